import CollectorCore
@testable import Geolocation
import Glibc
import LabSupport
import MeasurementModel
import ProbeLog
import Synchronization

/// A collector beside a test, watched as it runs.
final class Bench: Sendable {
    private struct Seen {
        var snapshots: [Snapshot] = []
        /// Gaps as `+word` when they begin and `-word` when they end.
        var gaps: [String] = []
        var states: [String] = []
        var log: [String] = []
        /// Of the collector's thread.
        var clock: clockid_t?
    }

    private let seen: SharedState<Seen>
    private let run: CollectorRun

    /// - Parameter onSnapshot: called on the collector's own thread.
    init(
        port: UInt16, host: String = "127.0.0.1", device: String? = nil, timing: Timing = .patient, minimumDistance: Double = 1,
        acceptsSimulated: Bool = false, permissions: Permissions = Permissions(granted: [.preciseLocation]),
        onSnapshot: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        let seen = SharedState(Seen())
        var settings = CollectorHost.Settings()
        settings.stopDeadline = promptly
        settings.observer = { event in
            let count: Int? = seen.withLock { seen in
                if seen.clock == nil {
                    var clock = clockid_t()
                    if pthread_getcpuclockid(pthread_self(), &clock) == 0 { seen.clock = clock }
                }
                switch event.kind {
                case .snapshot(let snapshot):
                    seen.snapshots.append(snapshot)
                    return seen.snapshots.count
                case .gap(let gap): seen.gaps.append((gap.to == nil ? "+" : "-") + gap.reason)
                case .state(let state, let reason): seen.states.append(reason ?? state.rawValue)
                }
                return nil
            }
            if let count { onSnapshot(count) }
        }
        settings.logger = Logger(category: "test", minimum: .debug) { level, category, message, metadata in
            let line = "\(level.name) \(category) \(message) \(metadata.map { "\($0.0)=\($0.1)" }.joined(separator: " "))"
            seen.withLock { $0.log.append(line) }
        }
        let collector = GeolocationCollector(
            settings: GeolocationSettings(
                host: host, port: "\(port)", device: device, minimumDistance: minimumDistance, acceptsSimulated: acceptsSimulated),
            timing: timing)
        self.seen = seen
        run = CollectorHost(collectors: [collector], settings: settings).start(
            kind: TestKind(type: "TEST", subject: "lab"), permissions: permissions)
    }

    var snapshots: [Snapshot] { seen.withLock { $0.snapshots } }
    var gaps: [String] { seen.withLock { $0.gaps } }
    var states: [String] { seen.withLock { $0.states } }
    var log: [String] { seen.withLock { $0.log } }

    /// Seconds that the collector's thread has worked; it must have told something by then, and still run.
    var processorTime: Double {
        guard let clock = seen.withLock({ $0.clock }) else { return .nan }
        var time = timespec()
        return clock_gettime(clock, &time) == 0 ? Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 : .nan
    }

    /// Waits until something has happened.
    ///
    /// - Returns: false when it has not happened in the time, which is a bound for a loaded machine and no expectation.
    func wait(atMost limit: Duration = .seconds(45), _ condition: @Sendable (Bench) -> Bool) async -> Bool {
        let end = MonotonicInstant.now() + limit
        while MonotonicInstant.now() < end {
            if condition(self) { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return condition(self)
    }

    struct Result {
        let snapshots: [Snapshot]
        let record: CollectorRecord
        /// Whether the collector had returned by ``promptly``. Not measured here: a test's own threads may be busy with other tests.
        var isPrompt: Bool { record.state != .stuck }
        var gaps: [String] { record.gaps.map(\.reason) }
    }

    func finish() async -> Result {
        let outcome = await run.finish()
        return Result(snapshots: outcome.traces.first?.snapshots ?? [], record: outcome.records[0])
    }
}

/// A value behind a lock, for closures.
final class SharedState<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}

extension Timing {
    /// Where silence is not what is tested: a test that has to wait its turn on a busy machine is no receiver that has nothing to say.
    static let patient = Timing(
        maximumLag: .seconds(300), maximumLagOvertaken: .seconds(300), receiverLoyalty: .seconds(300), silence: .seconds(300),
        watchAgain: .seconds(300), reconnect: .seconds(300), greeting: .seconds(60), connect: .seconds(60))

    /// Short times for labs, and still long for a loaded machine.
    static let short = Timing(
        silence: .seconds(1), watchAgain: .seconds(2), reconnect: .seconds(6), greeting: .seconds(1), connect: .seconds(1),
        longestBackOff: .milliseconds(400), heartbeat: .seconds(2))
}

extension Snapshot {
    var latitude: Double { self["latitude"]?.double ?? .nan }
    var longitude: Double { self["longitude"]?.double ?? .nan }
}

/// No test may end later than this because of a collector. One returns within milliseconds; the rest is for a loaded machine.
let promptly: Duration = isThreadSanitized ? .seconds(30) : .seconds(2.5)

/// A line of gpsd's with a fix, `tick` tenths of a second after noon and 1.1 m each to the north.
func line(_ tick: Int) -> String { line(exactly: Double(tick) / 10) }

/// The same so many seconds after noon.
func line(exactly seconds: Double) -> String {
    let members = #""lat":\#(48 + seconds * 1e-4),"lon":11.5,"eph":10.5"#
    return #"{"class":"TPV","device":"/dev/a","mode":3,"time":"\#(noon(seconds))",\#(members)}"# + "\r\n"
}
