internal import CNetlink
internal import Glibc
public import MeasurementModel

/// Listens for changes of links, addresses, routes and rules, and of neighbours where they are asked for. Its events say only that something changed; the state is asked for anew.
public final class NetworkMonitor {
    private let socket: NetlinkSocket
    private var memory = EventMemory()

    public var descriptor: Int32 { socket.descriptor }

    /// Enough for some thousand events while the reader is held up; what is lost beyond it is told.
    private static let receiveBuffer: Int32 = 1 << 20
    /// Datagrams read at a time, so that a storm cannot keep the reader from asking.
    private static let maximumDatagrams = 512

    /// What a monitor listens for: what nobody asks for never wakes anybody.
    public enum Subject: Sendable {
        /// Links, addresses, routes and rules: all that decides which way a packet leaves.
        case path
        /// The entries of the kernel's neighbour table.
        case neighbours

        fileprivate var groups: [rtnetlink_groups] {
            switch self {
            case .path:
                [
                    RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,
                    RTNLGRP_IPV6_RULE,
                ]
            case .neighbours: [RTNLGRP_NEIGH]
            }
        }
    }

    /// Subscribes. Whoever asks for the state afterwards misses nothing.
    ///
    /// - Parameters:
    ///   - subjects: what to listen for.
    ///   - addresses: the destinations whose routes matter, and the neighbours that do.
    ///   - receiveBuffer: octets; nil is the default. Tests make it small to lose events.
    /// - Throws: ``NetlinkError``.
    public init(
        of subjects: Set<Subject> = [.path], watching addresses: some Sequence<IPAddress>, receiveBuffer: Int32? = nil
    ) throws(NetlinkError) {
        socket = try NetlinkSocket(.route, receiveBuffer: receiveBuffer ?? Self.receiveBuffer)
        try socket.attach(RouteFilter(addresses: addresses))
        for group in subjects.flatMap(\.groups) { try socket.join(group: Int32(group.rawValue)) }
        // Next-hop objects move routes without a route event. Kernels before 5.3 have none.
        if subjects.contains(.path) { try? socket.join(group: Int32(RTNLGRP_NEXTHOP.rawValue)) }
        socket.becomeNonBlocking()
    }

    /// Changes which addresses matter.
    public func watch(_ addresses: some Sequence<IPAddress>) throws(NetlinkError) {
        try socket.attach(RouteFilter(addresses: addresses))
    }

    /// What a round of reading gave.
    public struct Drained: Sendable, Hashable {
        /// Events that may change an answer.
        public var news = 0
        /// Events that repeat what is known.
        public var repeats = 0
        /// Events were lost: nothing that was known before is certain.
        public var isOverrun = false
    }

    /// Reads what has come, without waiting. An overrun is told once, and everything after it is read.
    public func drain() throws(NetlinkError) -> Drained {
        var result = Drained()
        for _ in 0..<Self.maximumDatagrams {
            switch try socket.read() {
            case .empty: return result
            case .overrun:
                result.isOverrun = true
                memory.forget()
            case .datagram(let datagram):
                for message in NetlinkMessage.all(in: datagram) {
                    if memory.isNews(message) { result.news += 1 } else { result.repeats += 1 }
                }
            }
        }
        return result
    }
}
