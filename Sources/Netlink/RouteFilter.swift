internal import CNetlink
internal import Glibc
public import MeasurementModel

/// A classic BPF program (linux/filter.h, socket(7) `SO_ATTACH_FILTER`) that lets a route event through only if its destination covers
/// one of the addresses that are asked about. A router that learns a full table so never wakes the probe. A neighbour's event passes only
/// if one of the addresses is the neighbour's, however many others live on the link.
///
/// Everything else passes. So does a route event that the program cannot read.
public struct RouteFilter: Sendable {
    /// With more addresses than this every event passes.
    static let maximumAddresses = 16

    let program: [sock_filter]

    public init(addresses: some Sequence<IPAddress>) {
        let addresses = Set(addresses)
        var code = FilterAssembler()
        if addresses.count <= Self.maximumAddresses {
            code.readDestination()
            for family in IPAddress.Family.allCases { code.passIfCovering(family, addresses.filter { $0.family == family }) }
            code.drop()
        } else {
            code.pass()
        }
        program = code.assembled()
    }
}

extension NetlinkSocket {
    /// Replaces the socket's filter: packets are dropped in the kernel, before they take up the buffer or wake anybody.
    ///
    /// - Throws: ``NetlinkError``.
    public func attach(_ filter: RouteFilter) throws(NetlinkError) {
        var code = filter.program
        let descriptor = descriptor
        let error = code.withUnsafeMutableBufferPointer { buffer -> Int32 in
            var program = sock_fprog(len: UInt16(buffer.count), filter: buffer.baseAddress)
            let status = setsockopt(
                descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout<sock_fprog>.size))
            return status == 0 ? 0 : errno
        }
        guard error == 0 else { throw NetlinkError(errno: error, text: "socket filter refused") }
    }
}

/// What the filter asks of an event, in the order of the packet: struct nlmsghdr, struct rtmsg, attributes. What it reads of struct ndmsg,
/// a neighbour's, is in the same places: the family, and the address in attribute 1.
extension FilterAssembler {
    private static let messageType: UInt32 = 4
    private static let family: UInt32 = 16
    private static let destinationLength: UInt32 = 17
    private static let attributes: UInt32 = 28
    /// The kernel's extension that finds attribute X from offset A on.
    private static let findAttribute = UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR)

    // Scratch cells.
    private static let length: UInt32 = 0
    private static let attribute: UInt32 = 1
    private static let shift: UInt32 = 2

    fileprivate mutating func pass() { add(BPF_RET | BPF_K, .max) }
    fileprivate mutating func drop() { add(BPF_RET | BPF_K, 0) }

    /// Passes what is neither route nor neighbour, and a route whose destination it cannot find.
    fileprivate mutating func readDestination() {
        let isRoute = label()
        let isNeighbour = label()
        let isResolved = label()
        let hasLength = label()
        let hasDestination = label()
        add(BPF_LD | BPF_H | BPF_ABS, Self.messageType)
        jump(BPF_JEQ, inNetworkOrder(RTM_NEWROUTE), ifTrue: isRoute)
        jump(BPF_JEQ, inNetworkOrder(RTM_DELROUTE), ifTrue: isRoute)
        jump(BPF_JEQ, inNetworkOrder(RTM_NEWNEIGH), ifTrue: isNeighbour)
        jump(BPF_JEQ, inNetworkOrder(RTM_DELNEIGH), ifTrue: isNeighbour)
        pass()
        place(isNeighbour)
        // What a bridge learns comes as a neighbour too.
        add(BPF_LD | BPF_B | BPF_ABS, Self.family)
        jump(BPF_JEQ, UInt32(AF_BRIDGE), ifFalse: isResolved)
        drop()
        place(isResolved)
        // All bits of the address have to match.
        add(BPF_LD | BPF_W | BPF_IMM, UInt32(IPAddress.Family.ipv6.bits))
        add(BPF_ST, Self.length)
        jump(BPF_JGT, 0, ifTrue: hasLength)
        place(isRoute)
        add(BPF_LD | BPF_B | BPF_ABS, Self.destinationLength)
        add(BPF_ST, Self.length)
        jump(BPF_JEQ, 0, ifFalse: hasLength)
        pass()
        place(hasLength)
        add(BPF_LDX | BPF_W | BPF_IMM, UInt32(RTA_DST.rawValue))
        add(BPF_LD | BPF_W | BPF_IMM, Self.attributes)
        add(BPF_LD | BPF_B | BPF_ABS, Self.findAttribute)
        add(BPF_ST, Self.attribute)
        // Without a destination it cannot be judged.
        jump(BPF_JEQ, 0, ifFalse: hasDestination)
        pass()
        place(hasDestination)
    }

    /// Passes if one of the addresses lies in the destination's prefix, and falls through otherwise.
    fileprivate mutating func passIfCovering(_ family: IPAddress.Family, _ addresses: some Sequence<IPAddress>) {
        for address in addresses {
            let isCovered = label()
            let differs = label()
            add(BPF_LD | BPF_B | BPF_ABS, Self.family)
            jump(BPF_JEQ, UInt32(family.number), ifFalse: differs)
            for start in stride(from: 0, to: address.octets.count, by: 4) {
                let word = address.octets[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                compare(word, at: UInt32(start), isCovered: isCovered, differs: differs)
            }
            place(isCovered)
            pass()
            place(differs)
        }
    }

    /// Compares one 32-bit word under the prefix, and falls through if the whole word is equal.
    private mutating func compare(_ word: UInt32, at offset: UInt32, isCovered: Label, differs: Label) {
        let begin = offset * 8
        let end = begin + 32
        let payload = 4 + offset
        let isWhole = label()
        add(BPF_LD | BPF_MEM, Self.length)
        jump(BPF_JGT, begin, ifFalse: isCovered)
        jump(BPF_JGE, end, ifTrue: isWhole)
        // The prefix ends inside this word: only its leading bits count.
        add(BPF_LD | BPF_W | BPF_IMM, end)
        add(BPF_LDX | BPF_MEM, Self.length)
        add(BPF_ALU | BPF_SUB | BPF_X, 0)
        add(BPF_ST, Self.shift)
        add(BPF_LDX | BPF_MEM, Self.attribute)
        add(BPF_LD | BPF_W | BPF_IND, payload)
        add(BPF_ALU | BPF_XOR | BPF_K, word)
        add(BPF_LDX | BPF_MEM, Self.shift)
        add(BPF_ALU | BPF_RSH | BPF_X, 0)
        jump(BPF_JEQ, 0, ifTrue: isCovered, ifFalse: differs)
        place(isWhole)
        add(BPF_LDX | BPF_MEM, Self.attribute)
        add(BPF_LD | BPF_W | BPF_IND, payload)
        jump(BPF_JEQ, word, ifFalse: differs)
    }

    /// A load from the packet reads network byte order; netlink headers are in the machine's.
    private func inNetworkOrder(_ type: some BinaryInteger) -> UInt32 { UInt32(UInt16(truncatingIfNeeded: type).bigEndian) }
}
