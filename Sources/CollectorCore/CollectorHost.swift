public import MeasurementModel
public import ProbeLog

/// Runs collectors beside a test: measures them, contains them, and gives their traces.
public struct CollectorHost: Sendable {
    /// How collectors are run, beside everything that a test itself says.
    public struct Settings: Sendable {
        /// How long after the test's end a collector may take to return before it is given up.
        public var stopDeadline: Duration = .seconds(1)
        /// How much each collector may say.
        public var limits = TraceLimits()
        /// False keeps no snapshots: for a live view without end.
        public var keepsSnapshots = true
        /// Told everything as it happens, on the collectors' threads; nil tells nobody.
        public var observer: TraceObserver?
        public var clock: any MeasurementClock = SystemMeasurementClock()
        public var logger: Logger = .silent

        public init() {}
    }

    public let collectors: [any Collector]
    public var settings: Settings

    public init(collectors: [any Collector], settings: Settings = Settings()) {
        self.collectors = collectors
        self.settings = settings
    }

    /// Starts every collector and returns at once: nothing of a collector is waited for. The collectors' threads are made here, and
    /// so inherit the calling thread's network namespace.
    public func start(
        kind: TestKind, target: SessionTarget = SessionTarget(), permissions: Permissions = .none, clockOffset: Duration? = nil
    ) -> CollectorRun {
        let startedAt = settings.clock.now()
        let watch = ClockWatch(clock: settings.clock, start: startedAt)
        let claims = TraceClaims()
        let slots = collectors.map { collector in
            CollectorSlot(
                collector: collector,
                context: CollectorSlot.Context(
                    kind: kind, target: target, permissions: permissions, clockOffset: clockOffset, startedAt: startedAt, watch: watch,
                    claims: claims, settings: settings))
        }
        return CollectorRun(slots: slots, startedAt: startedAt, watch: watch, settings: settings)
    }
}

/// The collectors of one running test.
public final class CollectorRun: Sendable {
    public let startedAt: MonotonicInstant
    private let slots: [CollectorSlot]
    private let watch: ClockWatch
    private let settings: CollectorHost.Settings

    init(slots: [CollectorSlot], startedAt: MonotonicInstant, watch: ClockWatch, settings: CollectorHost.Settings) {
        self.slots = slots
        self.startedAt = startedAt
        self.watch = watch
        self.settings = settings
    }

    /// What the collectors leave behind, in their order.
    public struct Outcome: Sendable {
        public let traces: [(key: String, snapshots: [Snapshot])]
        public let records: [CollectorRecord]
        public let clockSteps: [ClockWatch.Step]
    }

    /// Ends every collector: cancels all, waits for all together at most for the deadline, and gives up the rest.
    ///
    /// - Parameter end: the test's end; nil means now.
    public func finish(endedAt end: MonotonicInstant? = nil) async -> Outcome {
        let end = end ?? settings.clock.now()
        watch.look()
        for slot in slots { slot.cancel() }
        await waitForAll()
        let results = slots.map { $0.outcome(endedAt: end, deadline: settings.stopDeadline) }
        return Outcome(
            traces: results.compactMap { result in result.snapshots.map { (result.record.trace, $0) } }, records: results.map(\.record),
            clockSteps: watch.steps)
    }

    private func waitForAll() async {
        let deadline = settings.stopDeadline
        let pending = slots.map(\.ended).filter { !$0.isOpen }
        guard !pending.isEmpty else { return }
        await withTaskGroup(of: Bool.self) { group in
            for latch in pending {
                group.addTask {
                    await latch.wait()
                    return true
                }
            }
            group.addTask {
                try? await Task.sleep(for: deadline)
                return false
            }
            var left = pending.count
            while left > 0, let ended = await group.next(), ended { left -= 1 }
            group.cancelAll()
        }
    }
}
