internal import CNetlink
internal import Glibc
public import MeasurementModel

/// Questions to the kernel about links, addresses and routes (rtnetlink(7)). Each is answered from the kernel's current state.
public final class RouteQuestions {
    private let socket: NetlinkSocket

    /// - Throws: ``NetlinkError``.
    public init() throws(NetlinkError) { socket = try NetlinkSocket(.route) }

    /// The route that a packet to an address would take, as `ip route get` asks it. No packet is sent.
    ///
    /// - Parameters:
    ///   - source: the address that the sender would be bound to.
    ///   - bound: index of the device that the sender's socket is bound to, 0 for none.
    ///   - mark: the sender's firewall mark.
    /// - Returns: nil where the kernel has no route (ENETUNREACH and its like).
    public func route(
        to destination: IPAddress, from source: IPAddress? = nil, bound: Int32 = 0, mark: UInt32? = nil
    ) throws(NetlinkError) -> RouteMessage? {
        var body = MessageBuilder()
        body.u8(destination.family.number)
        body.u8(UInt8(destination.family.bits))
        body.u8(source == nil ? 0 : UInt8(destination.family.bits))
        body.zeros(5)
        body.u32(0)
        body.attribute(RTA_DST.rawValue, destination.octets)
        if let source { body.attribute(RTA_SRC.rawValue, source.octets) }
        if bound > 0 { body.attribute(RTA_OIF.rawValue, u32: UInt32(bound)) }
        if let mark { body.attribute(RTA_MARK.rawValue, u32: mark) }
        do {
            let answer = try socket.request(type: UInt16(RTM_GETROUTE), flags: 0, body: body.octets).first
            return answer.flatMap { RouteMessage($0.payload) }
        } catch {
            switch error.errno {
            // What a lookup says where there is no way: unreachable and prohibit routes, or no route at all.
            case ENETUNREACH, EHOSTUNREACH, EACCES, ENODEV, EADDRNOTAVAIL, EAFNOSUPPORT, EOPNOTSUPP: return nil
            // A blackhole, or a source that is no own address. With the kernel's own words it is a malformed question.
            case EINVAL where error.text == nil: return nil
            default: throw error
            }
        }
    }

    /// A link by its index; nil where there is none.
    public func link(_ index: Int32) throws(NetlinkError) -> LinkMessage? {
        var body = linkHeader(index: index)
        body.attribute(IFLA_EXT_MASK, u32: UInt32(RTEXT_FILTER_SKIP_STATS))
        do {
            let answer = try socket.request(type: UInt16(RTM_GETLINK), flags: 0, body: body.octets).first
            return answer.flatMap { LinkMessage($0.payload) }
        } catch  where error.errno == ENODEV {
            return nil
        }
    }

    /// The links that belong to a bridge, bond or team.
    public func ports(of master: Int32) throws(NetlinkError) -> [LinkMessage] {
        var body = linkHeader(index: 0)
        body.attribute(IFLA_EXT_MASK, u32: UInt32(RTEXT_FILTER_SKIP_STATS))
        body.attribute(IFLA_MASTER, u32: UInt32(master))
        let answers = try socket.dump(type: UInt16(RTM_GETLINK), body: body.octets)
        return answers.compactMap { LinkMessage($0.payload) }.filter { $0.master == master }
    }

    /// The addresses of one family on a link, or on all links with index 0.
    ///
    /// - Parameter acceptingInterrupted: for whoever looks for one entry: where changes interrupt the answer again and again, what is in
    ///   it is given, and something may be missing.
    public func addresses(
        _ family: IPAddress.Family, on index: Int32, acceptingInterrupted: Bool = false
    ) throws(NetlinkError) -> [AddressMessage] {
        var body = MessageBuilder()
        body.u8(family.number)
        body.zeros(3)
        body.s32(index)
        do {
            let answers = try socket.dump(
                type: UInt16(RTM_GETADDR), body: body.octets, acceptingInterrupted: acceptingInterrupted)
            return answers.compactMap { AddressMessage($0.payload) }.filter { index == 0 || $0.index == index }
        } catch  where error.errno == ENODEV {
            return []
        }
    }

    private func linkHeader(index: Int32) -> MessageBuilder {
        var body = MessageBuilder()
        body.zeros(4)
        body.s32(index)
        body.zeros(8)
        return body
    }
}
