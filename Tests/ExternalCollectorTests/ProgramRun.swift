import CLinux
import CollectorTestKit
import ExternalCollector
import LabSupport
import MeasurementModel
import Synchronization

@testable import CollectorCore

/// A program beside a well-behaved collector in one run, watched until a test has seen enough.
enum ProgramRun {
    static let misbehave = Lab.path("collectors/misbehave")

    struct Outcome {
        let records: [CollectorRecord]
        let traces: [(key: String, snapshots: [Snapshot])]
        /// From the test's end to that of the last collector.
        let stopTook: Duration
        let log: String

        /// The program's own line.
        var program: CollectorRecord { records[0] }
        var values: [FieldValue?] { traces.first { $0.key != "good_trace" }?.snapshots.map { $0["value"] } ?? [] }
        var snapshots: [Snapshot] { traces.first { $0.key != "good_trace" }?.snapshots ?? [] }
        /// Whether the other collector saw the whole test.
        var isOtherUnharmed: Bool {
            records.last?.state == .ok && traces.last?.key == "good_trace" && traces.last?.snapshots.isEmpty == false
        }
    }

    /// The well-behaved one.
    struct Good: Collector {
        let descriptor = CollectorDescriptor(
            name: "good", version: "1", trace: "good_trace",
            fields: [.integer("value", privacy: .otherDiagnosticData, about: "A value")])

        func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
            trace.record(["value": .integer(1)])
            while !session.wait().isCancelled {}
        }
    }

    static func misbehaving(_ mode: String..., settings: ProgramCollector.Settings = .init()) -> ProgramCollector {
        ProgramCollector(name: "misbehave", program: misbehave, arguments: mode, settings: settings)
    }

    /// Runs it until the condition holds for what has been told of its trace, for a minute at most.
    static func run(
        _ collector: any Collector, permissions: Permissions = .none, target: SessionTarget = SessionTarget(),
        limits: TraceLimits = TraceLimits(), stopDeadline: Duration = .seconds(4),
        until isEnough: @escaping @Sendable (Seen) -> Bool = { $0.snapshots >= 1 },
        meanwhile: @Sendable () async throws -> Void = {}
    ) async throws -> Outcome {
        let seen = Mutex(Seen())
        let log = CollectedLog()
        var settings = CollectorHost.Settings()
        settings.stopDeadline = stopDeadline
        settings.logger = log.logger()
        settings.limits = limits
        settings.observer = { event in
            guard event.trace != "good_trace" else { return }
            seen.withLock { $0.take(event.kind) }
        }
        let wrapped = Watched(collector) { seen.withLock { $0.hasReturned = true } }
        let run = CollectorHost(collectors: [wrapped, Good()], settings: settings)
            .start(kind: TestKind(type: "NETWORK", subject: "ping"), target: target, permissions: permissions)
        try await meanwhile()
        let limit = ContinuousClock.now + .seconds(60)
        while !isEnough(seen.withLock { $0 }), ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        let end = ContinuousClock.now
        let outcome = await run.finish()
        return Outcome(
            records: outcome.records, traces: outcome.traces, stopTook: ContinuousClock.now - end,
            log: log.lines.map(\.text).joined(separator: "\n"))
    }

    /// What was told so far.
    struct Seen {
        var snapshots = 0
        var gapsBegun: [String] = []
        var gapsEnded: [String] = []
        var values: [FieldValue] = []
        var hasReturned = false

        mutating func take(_ event: TraceEvent.Kind) {
            switch event {
            case .snapshot(let snapshot):
                snapshots += 1
                if let value = snapshot["value"] { values.append(value) }
            case .gap(let gap): if gap.to == nil { gapsBegun.append(gap.reason) } else { gapsEnded.append(gap.reason) }
            case .state: break
            }
        }
    }

    /// Tells when the collector has returned, which for some is what a test waits for.
    private struct Watched: LateCollector {
        let inner: any Collector
        let returned: @Sendable () -> Void

        init(_ inner: any Collector, _ returned: @escaping @Sendable () -> Void) {
            self.inner = inner
            self.returned = returned
        }

        var descriptor: CollectorDescriptor { inner.descriptor }

        func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
            defer { returned() }
            if let late = inner as? any LateCollector {
                try await late.withCollector(during: session, use)
            } else {
                try await use(inner)
            }
        }
    }
}
