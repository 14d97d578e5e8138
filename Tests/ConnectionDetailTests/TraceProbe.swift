import CollectorCore
import ConnectionDetail
import Glibc
import LabSupport
import MeasurementModel
import Synchronization

@testable import ConnectionDetail

/// A collector at work in a test's namespace, and what it has recorded so far.
final class TraceProbe: Sendable {
    private let state = Mutex<(snapshots: [Snapshot], gaps: [CollectorRecord.Gap])>(([], []))
    private let run = Mutex<CollectorRun?>(nil)
    /// While it is closed, the collector's thread is held up in its observer.
    let gate = Gate()

    init(
        target: String = "203.0.113.9", settings: ConnectionDetailSettings = ConnectionDetailSettings(), permissions: Permissions = .none,
        also addresses: [String] = [], aim given: SessionTarget? = nil
    ) {
        var host = CollectorHost.Settings()
        host.stopDeadline = .seconds(10)
        host.observer = { [self] event in
            switch event.kind {
            case .snapshot(let snapshot): state.withLock { $0.snapshots.append(snapshot) }
            case .gap(let gap): state.withLock { $0.gaps.append(gap) }
            case .state: break
            }
            gate.pass()
        }
        let aim = given ?? SessionTarget(host: addresses.isEmpty ? target : "several.example")
        if !addresses.isEmpty, given == nil { aim.resolve(to: ([target] + addresses).map { IPAddress($0)! }, at: .now()) }
        let collectors = CollectorHost(collectors: [ConnectionDetailCollector(settings: settings)], settings: host)
        let started = collectors.start(kind: TestKind(type: "NETWORK", subject: "ping"), target: aim, permissions: permissions)
        run.withLock { $0 = started }
    }

    var snapshots: [Snapshot] { state.withLock { $0.snapshots } }
    var last: Snapshot? { state.withLock { $0.snapshots.last } }
    var gaps: [CollectorRecord.Gap] { state.withLock { $0.gaps } }

    /// The last snapshot's fields, as JSON texts.
    var fields: [String: String] { Self.fields(of: last) }

    static func fields(of snapshot: Snapshot?) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (snapshot?.fields ?? []).map { ($0.name, $0.value.json!.text()) })
    }

    /// Looks every two milliseconds whether something has become true, for half a minute at most.
    @discardableResult
    func wait(_ condition: (TraceProbe) -> Bool) -> Bool { Self.wait { condition(self) } }

    static func wait(_ condition: () -> Bool) -> Bool {
        for _ in 0..<15000 {
            if condition() { return true }
            usleep(2000)
        }
        return condition()
    }

    /// Waits for the settled state to be asked for: longer than a burst takes.
    func settle() { usleep(150_000) }

    func finish(in namespace: NetworkNamespace) -> (record: CollectorRecord, snapshots: [Snapshot]) {
        gate.open()
        let run = run.withLock { $0! }
        let outcome = namespace.wait { await run.finish() }
        return (outcome.records[0], outcome.traces[0].snapshots)
    }
}

/// Something that threads pass unless it is closed.
final class Gate: Sendable {
    private let isClosed = Mutex(false)
    func close() { isClosed.withLock { $0 = true } }
    func open() { isClosed.withLock { $0 = false } }
    func pass() { while isClosed.withLock({ $0 }) { usleep(1000) } }
}

extension NetworkNamespace {
    /// One link with an address and a default route.
    func oneLink() throws {
        try veth("d0", peer: "p0")
        try ip("addr add 192.0.2.2/24 dev d0")
        try ip("route add default via 192.0.2.1")
    }
}
