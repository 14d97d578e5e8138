import CollectorCore
import Glibc
import LabSupport
import MeasurementModel
import Synchronization

@testable import Neighbours

/// The collector at work in a test's namespace, and what it has told so far.
final class NeighbourProbe: Sendable {
    private let told = Mutex<[TraceEvent.Kind]>([])
    private let run = Mutex<CollectorRun?>(nil)
    private let isHeld = Mutex(false)

    /// - Parameter pollInterval: so long that only events can explain what is seen, unless a test wants the poll.
    init(_ target: SessionTarget, pollInterval: Duration = .seconds(3600), receiveBuffer: Int32? = nil) {
        var host = CollectorHost.Settings()
        host.stopDeadline = .seconds(10)
        host.observer = { [self] event in
            told.withLock { $0.append(event.kind) }
            while isHeld.withLock({ $0 }) { usleep(1000) }
        }
        var collector = NeighboursCollector()
        collector.pollInterval = pollInterval
        collector.receiveBuffer = receiveBuffer
        let started = CollectorHost(collectors: [collector], settings: host)
            .start(kind: TestKind(type: "NETWORK", subject: "ping"), target: target, permissions: .none)
        run.withLock { $0 = started }
    }

    convenience init(_ target: String, pollInterval: Duration = .seconds(3600), receiveBuffer: Int32? = nil) {
        self.init(SessionTarget(host: target), pollInterval: pollInterval, receiveBuffer: receiveBuffer)
    }

    var snapshots: [Snapshot] {
        told.withLock { $0.compactMap { if case .snapshot(let snapshot) = $0 { snapshot } else { nil } } }
    }

    /// The last state that was told, with its reason.
    var state: String? {
        told.withLock { $0.compactMap { if case .state(let state, let reason) = $0 { reason ?? state.rawValue } else { nil } }.last }
    }

    /// The last snapshot's fields but the age, which no test can foresee.
    var fields: [String: FieldValue] {
        let all = snapshots.last?.fields.map { ($0.name, $0.value) } ?? []
        return Dictionary(uniqueKeysWithValues: all).filter { !$0.key.hasSuffix("_confirmed_ms") }
    }

    /// While it is held, the collector's thread stands still as soon as it has told something.
    func hold(_ value: Bool) { isHeld.withLock { $0 = value } }

    /// Looks again and again whether something has become true, for half a minute at most.
    @discardableResult
    func wait(_ condition: (NeighbourProbe) throws -> Bool) rethrows -> Bool {
        for _ in 0..<6000 {
            if try condition(self) { return true }
            usleep(5000)
        }
        return try condition(self)
    }

    func finish(in namespace: NetworkNamespace) -> CollectorRecord {
        hold(false)
        let run = run.withLock { $0! }
        return namespace.wait { await run.finish() }.records[0]
    }
}

extension NetworkNamespace {
    static let peerAddress = "02:00:00:00:00:01"

    /// One link with addresses and default routes of both families. Its far end is in this namespace too, and answers nobody.
    func silentLink() throws {
        try veth("d0", peer: "p0")
        try ip("addr add 192.0.2.2/24 dev d0")
        try ip("addr add 2001:db8:1::2/64 dev d0 nodad")
        try ip("route add default via 192.0.2.1")
        try ip("-6 route add default via 2001:db8:1::1")
    }

    /// Sets the state of a neighbour by hand.
    func neighbour(_ address: String, _ state: String) throws {
        try ip("neigh replace \(address) lladdr \(Self.peerAddress) dev d0 nud \(state)")
    }

    /// Sends a packet to nobody's port, which makes the kernel look for the neighbour.
    func send(to address: String) throws {
        let family = address.contains(":") ? "AF_INET6" : "AF_INET"
        try ChildProcess.run(
            "/usr/bin/python3", "-c",
            "import socket; socket.socket(socket.\(family), socket.SOCK_DGRAM).sendto(b'x', ('\(address)', 9))")
    }

    /// What `ip` says of a neighbour, in the words of the trace.
    func state(of address: String) throws -> String {
        let text = try ip("-j neigh show to \(address) dev d0 nud all")
        return try JSONValue(parsing: text)[0]?["state"]?[0]?.string?.lowercased() ?? "none"
    }
}
