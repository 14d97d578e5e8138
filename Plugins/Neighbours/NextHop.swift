internal import MeasurementModel
internal import Netlink

/// The neighbour that packets to a target are handed to, and what the kernel knows of it.
struct NextHop: Sendable, Hashable {
    let address: IPAddress
    /// It passes the packets on; otherwise it is the target itself.
    let isGateway: Bool
    /// Name of the link that it is on.
    let interface: String
    let state: NeighbourState
    /// Age of the last confirmation, as far as the kernel's entry has one.
    let sinceConfirmed: Duration?
}

extension RouteQuestions {
    /// Three questions: the route, its link, the neighbour there. Whatever changes between them makes an event, and is asked for again.
    ///
    /// - Returns: nil where packets to the target could not leave.
    func nextHop(to target: IPAddress) throws(NetlinkError) -> NextHop? {
        guard let route = try route(connectingTo: target), route.isPath, !route.isDead, let index = route.outputIndex,
            // For IPv4 the answer to a lookup does not say that the link has lost its carrier.
            let link = try link(index), link.isUp, link.hasCarrier
        else { return nil }
        // A route into the loopback device leads nowhere, unless the target is an address of this machine.
        guard !link.isLoopback || route.isLocal else { return nil }
        let address = route.gateway ?? target
        let entry = try neighbour(address, on: index)
        // On links that resolve nothing the kernel keeps one entry for all, under another address, or none.
        let state = entry?.state ?? (link.resolvesNothing ? .noarp : .none)
        return NextHop(
            address: address, isGateway: route.gateway != nil, interface: link.name, state: state, sinceConfirmed: entry?.sinceConfirmed)
    }
}
