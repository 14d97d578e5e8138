internal import CNetlink
internal import MeasurementModel

/// One message of a datagram (`struct nlmsghdr`, linux/netlink.h).
public struct NetlinkMessage: Sendable {
    public let type: UInt16
    public let flags: UInt16
    public let sequence: UInt32
    public let port: UInt32
    public let payload: ArraySlice<UInt8>

    static let headerSize = 16

    /// The messages of one datagram, as far as it is well formed. A cut message ends the list.
    public static func all(in datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram[...]
        while rest.count >= headerSize {
            let length = Int(rest.u32(at: 0)!)
            guard length >= headerSize, length <= rest.count else { break }
            messages.append(
                NetlinkMessage(
                    type: rest.u16(at: 4)!, flags: rest.u16(at: 6)!, sequence: rest.u32(at: 8)!, port: rest.u32(at: 12)!,
                    payload: rest[rest.startIndex + headerSize..<rest.startIndex + length]))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    /// The kernel's answer to a request: nil for a plain acknowledgement, which carries error 0.
    var error: NetlinkError? {
        guard let code = payload.s32(at: 0), code != 0 else { return nil }
        return NetlinkError(errno: 0 &- code, text: extendedAcknowledgement)
    }

    /// The kernel's own words (`NLMSGERR_ATTR_MSG`), which follow the header of the refused request.
    private var extendedAcknowledgement: String? {
        guard flags & UInt16(NLM_F_ACK_TLVS) != 0 else { return nil }
        var skipped = 4 + Self.headerSize
        if flags & UInt16(NLM_F_CAPPED) == 0, let length = payload.u32(at: 4) { skipped = 4 + Int((length &+ 3) & ~3) }
        return AttributeDecoder(payload.dropFirst(skipped)).text(NLMSGERR_ATTR_MSG.rawValue)
    }
}

/// A request that the kernel refused, or that it did not answer.
public struct NetlinkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// errno(3), positive.
    public let errno: Int32
    /// The kernel's own words, where it has some.
    public let text: String?

    public init(errno: Int32, text: String? = nil) {
        self.errno = errno
        self.text = text
    }

    public var description: String { text.map { "\(SystemError.text(errno)) (\($0))" } ?? SystemError.text(errno) }
}
