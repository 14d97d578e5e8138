internal import CLinux
internal import CNetlink
internal import Glibc
public import MeasurementModel

/// Questions to the kernel about links, addresses, routes and neighbours (rtnetlink(7)). Each is answered from the kernel's current state.
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

    /// The route that a new connection takes: two lookups, as connect(2) makes them, the second with the source that the first one chose,
    /// for rules that look at the source. It respects the device that this process's sockets are bound to, as in a VRF.
    public func route(connectingTo target: IPAddress) throws(NetlinkError) -> RouteMessage? {
        let bound = max(0, clinux_bound_ifindex(Int32(target.family.number)))
        // Without an interface connect(2) refuses a link-local IPv6 address: several links may have it.
        if target.family == .ipv6, target.isLinkLocal, bound == 0 { return nil }
        guard let first = try route(to: target, bound: bound) else { return nil }
        guard first.isPath, let source = first.source, !source.isUnspecified, !first.isLocal else { return first }
        guard let second = try route(to: target, from: source, bound: bound) else { return nil }
        // The answer to a question with a source does not repeat it.
        return RouteMessage(
            family: second.family, type: second.type, outputIndex: second.outputIndex, source: second.source ?? source,
            gateway: second.gateway, flags: second.flags)
    }

    /// The neighbour with an address on a link; nil where the kernel has no entry. Nothing is resolved by asking.
    ///
    /// - Throws: ``NetlinkError``; EOPNOTSUPP on kernels before 5.0, which only list all their neighbours.
    public func neighbour(_ address: IPAddress, on index: Int32) throws(NetlinkError) -> NeighbourMessage? {
        var body = MessageBuilder()
        body.u8(address.family.number)
        body.zeros(3)
        body.s32(index)
        body.zeros(4)
        body.attribute(NDA_DST, address.octets)
        do {
            let answer = try socket.request(type: UInt16(RTM_GETNEIGH), flags: 0, body: body.octets).first
            return answer.flatMap { NeighbourMessage($0.payload) }
        } catch  where error.errno == ENOENT || error.errno == ENODEV {
            return nil
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
