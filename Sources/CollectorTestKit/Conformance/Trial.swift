internal import CollectorCore
internal import MeasurementModel
internal import Synchronization

/// Starts runs of the collector under test, each watched, all with one ledger.
struct TrialHost: Sendable {
    let collector: any Collector
    let settings: CollectorConformance.Settings
    let ledger = Ledger()

    /// What is different from an ordinary run.
    struct Conditions {
        var permissions: Permissions
        var target: SessionTarget
        var clock: any MeasurementClock = SystemMeasurementClock()
        var limits = TraceLimits()
        /// The collector gets its first turn when the test is over.
        var holdsUntilCancelled = false
    }

    var ordinary: Conditions { Conditions(permissions: settings.permissions, target: settings.makeTarget()) }

    func start(_ change: (inout Conditions) -> Void = { _ in }) -> Trial {
        var conditions = ordinary
        change(&conditions)
        let watch = RunWatch(ledger: ledger)
        let holds = conditions.holdsUntilCancelled
        let watched: any Collector =
            if let late = collector as? any LateCollector {
                WatchedLateCollector(inner: late, watch: watch, holdsUntilCancelled: holds)
            } else {
                WatchedCollector(inner: collector, watch: watch, holdsUntilCancelled: holds)
            }
        var host = CollectorHost.Settings()
        host.stopDeadline = settings.stopDeadline
        host.limits = conditions.limits
        host.clock = conditions.clock
        host.logger = settings.logger
        let run = CollectorHost(collectors: [watched], settings: host).start(
            kind: settings.kind, target: conditions.target, permissions: conditions.permissions)
        return Trial(run: run, watch: watch)
    }
}

/// One run of the collector, from its start to its end.
struct Trial: Sendable {
    let run: CollectorRun
    let watch: RunWatch

    var seen: RunWatch.Seen { watch.seen }

    /// Waits until something has been seen, the collector has returned, or the time is over.
    func wait(atMost limit: Duration, until isMet: (RunWatch.Seen) -> Bool = { _ in false }) async {
        let end = MonotonicInstant.now() + limit
        while !Task.isCancelled {
            let seen = watch.seen
            if isMet(seen) || seen.returnedAt != nil || MonotonicInstant.now() >= end { return }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// What was left when the run had ended.
    struct Outcome: Sendable {
        let record: CollectorRecord
        let snapshots: [Snapshot]
        let seen: RunWatch.Seen
        /// It had returned before the test's end.
        let returnedEarly: Bool
        /// From the test's end to its return; nil where it did not return, or had done so before.
        let stopTook: Duration?

        var isStuck: Bool { record.state == .stuck }

        /// State and reason, as people read them.
        var state: String {
            let reason = record.reason.map { " (\($0)\(record.detail.map { ": \($0)" } ?? ""))" } ?? ""
            return "'\(record.state.rawValue)'\(reason)"
        }
    }

    func finish() async -> Outcome {
        let returnedEarly = watch.seen.returnedAt != nil
        let end = MonotonicInstant.now()
        let outcome = await run.finish()
        let seen = watch.seen
        let took = returnedEarly ? nil : seen.returnedAt.map { max(.zero, $0 - end) }
        return Outcome(
            record: outcome.records[0], snapshots: outcome.traces.first?.snapshots ?? [], seen: seen, returnedEarly: returnedEarly,
            stopTook: took)
    }
}

extension Duration {
    /// As people read it: `3 ms`, `1.5 s`.
    var words: String {
        let milliseconds = self.milliseconds
        guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
        let tenths = (milliseconds % 1000) / 100
        return tenths == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds / 1000).\(tenths) s"
    }
}

/// `1 file`, `2 files`.
func counted(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }
