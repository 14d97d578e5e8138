internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// The trace keys of one test: each belongs to one collector.
final class TraceClaims: Sendable {
    private let owners = Mutex<[String: String]>([:])

    /// The collector that has the key already, if one has.
    func claim(_ trace: String, for name: String) -> String? {
        owners.withLock { owners in
            if let owner = owners[trace] { return owner }
            owners[trace] = name
            return nil
        }
    }
}

/// One collector beside one test, on its own thread. This is the one place for an unstructured task: one that does not end is left behind.
final class CollectorSlot: Sendable {
    struct Context: Sendable {
        var kind: TestKind
        var target: SessionTarget
        var permissions: Permissions
        var clockOffset: Duration?
        var startedAt: MonotonicInstant
        var watch: ClockWatch
        var claims: TraceClaims
        var settings: CollectorHost.Settings
    }

    private struct State {
        var descriptor: CollectorDescriptor?
        var recorder: TraceRecorder?
        var failure: (state: CollectorRecord.State, reason: String, detail: String?)?
        var isClosing = false
        var returnedEarly = false
    }

    let ended = Latch()
    private let context: Context
    private let typeName: String
    private let thread: CollectorThread?
    private let attention: Attention?
    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(collector: any Collector, context: Context) {
        self.context = context
        typeName = String(describing: type(of: collector))
        let resources = Result { (try Attention(), try CollectorThread(name: "collector")) }
        attention = try? resources.get().0
        thread = try? resources.get().1
        if case .failure(let error) = resources {
            state.withLock { $0.failure = (.failed, "no_resources", "\(error)") }
            ended.open()
        }
        guard let thread, let attention else { return }
        context.target.notify(attention)
        let started = Task(executorPreference: thread) { [self] in
            await run(collector, attention)
            state.withLock { $0.returnedEarly = !$0.isClosing }
            ended.open()
            thread.stop()
        }
        task.withLock { $0 = started }
    }

    private func run(_ collector: any Collector, _ attention: Attention) async {
        let descriptor = collector.descriptor
        state.withLock { $0.descriptor = descriptor }
        let session = CollectionSession(
            kind: context.kind, target: context.target, permissions: context.permissions, clock: context.settings.clock,
            logger: context.settings.logger.named(descriptor.name), startedAt: context.startedAt,
            stopDeadline: context.settings.stopDeadline, attention: attention)
        do {
            if let late = collector as? any LateCollector {
                try await late.withCollector(during: session) { try await collect($0, session) }
            } else {
                try await collect(collector, session)
            }
        } catch is CancellationError where Task.isCancelled {
            // The contract's usual end for a collector whose waits throw.
        } catch let failure as CollectorFailure {
            fail(failure.state, failure.reason.word, String(failure.detail.prefix(500)))
            tellState(failure.state, failure.reason)
            nothingMore(failure.reason)
            // What is only not there is a state, and no news for a log.
            if failure.state == .failed || failure.state == .stuck {
                context.settings.logger.warning("collector failed", ("collector", descriptor.name), ("reason", failure.reason.word))
            }
        } catch {
            fail(.failed, "error", String(String(describing: error).prefix(500)))
            tellState(.failed, "error")
            nothingMore("error")
            context.settings.logger.warning("collector failed", ("collector", descriptor.name), ("error", "\(type(of: error))"))
        }
    }

    private func collect(_ collector: any Collector, _ session: CollectionSession) async throws {
        guard let recorder = admit(collector.descriptor) else { return }
        try await collector.collect(into: recorder, during: session)
    }

    /// Decides whether the collector runs at all.
    private func admit(_ descriptor: CollectorDescriptor) -> TraceRecorder? {
        state.withLock { $0.descriptor = descriptor }
        if let problem = descriptor.problem { return refuse(descriptor, "bad_declaration", problem) }
        if let owner = context.claims.claim(descriptor.trace, for: descriptor.name) {
            return refuse(
                descriptor, "trace_taken", "the trace '\(descriptor.trace)' is recorded by '\(owner)' already: declare another key")
        }
        let missing = descriptor.requires.filter { !context.permissions.allows($0) }
        if !missing.isEmpty {
            tellState(.denied, .noPermission)
            let names = missing.map(\.rawValue).joined(separator: ", ")
            return fail(.denied, StateReason.noPermission.word, "needs the permission \(names)")
        }
        let thread = thread
        let recorder = TraceRecorder(
            descriptor: descriptor,
            setting: TraceRecorder.Setting(
                permissions: context.permissions, clock: context.settings.clock, watch: context.watch, startedAt: context.startedAt,
                clockOffset: context.clockOffset, limits: context.settings.limits, keepsSnapshots: context.settings.keepsSnapshots,
                observer: context.settings.observer, isOwnThread: { thread?.isCurrent ?? false }))
        state.withLock { state in
            state.recorder = recorder
            // The test may have ended before this thread got its first turn.
            if state.isClosing { recorder.close() }
        }
        return recorder
    }

    /// What a collector that failed in the middle of the test would have seen from then on, nobody knows.
    private func nothingMore(_ reason: StateReason) {
        let recorder = state.withLock { $0.isClosing ? nil : $0.recorder }
        recorder?.gap(.began(reason))
    }

    /// For a live view. A collector that never said which trace is its has nothing to be told under.
    private func tellState(_ new: CollectorRecord.State, _ reason: StateReason) {
        guard let trace = state.withLock({ $0.descriptor?.trace }), !trace.isEmpty else { return }
        context.settings.observer?(TraceEvent(trace: trace, kind: .state(new, reason: reason.word)))
    }

    @discardableResult
    private func refuse(_ descriptor: CollectorDescriptor, _ reason: String, _ detail: String) -> TraceRecorder? {
        context.settings.logger.warning("collector failed", ("collector", descriptor.name), ("reason", reason))
        return fail(.failed, reason, detail)
    }

    @discardableResult
    private func fail(_ failure: CollectorRecord.State, _ reason: String, _ detail: String?) -> TraceRecorder? {
        state.withLock { $0.failure = (failure, reason, detail) }
        return nil
    }

    func cancel() {
        state.withLock { state in
            state.isClosing = true
            state.recorder?.close()
        }
        task.withLock { $0 }?.cancel()
        attention?.signal()
    }

    /// What became of the collector. Called once, after the deadline or its end.
    func outcome(endedAt end: MonotonicInstant, deadline: Duration) -> (record: CollectorRecord, snapshots: [Snapshot]?) {
        let hasEnded = ended.isOpen
        if hasEnded { thread?.join() } else { thread?.abandon() }
        let (descriptor, recorder, failure, returnedEarly) = state.withLock {
            ($0.descriptor, $0.recorder, $0.failure, $0.returnedEarly)
        }
        guard let descriptor else {
            let record = CollectorRecord(
                name: typeName, version: "", trace: "", state: failure?.state ?? .stuck,
                reason: failure?.reason ?? "did_not_describe_itself")
            return (record, nil)
        }
        var (record, snapshots) =
            recorder?.seal(endedAt: end, wasRunning: !returnedEarly, hangs: !hasEnded)
            ?? (CollectorRecord(name: descriptor.name, version: descriptor.version, trace: descriptor.trace, state: .ok), [])
        if let failure {
            record.state = failure.state
            record.reason = failure.reason
            record.detail = failure.detail
        }
        if !hasEnded {
            record.state = .stuck
            record.reason = "did_not_stop"
            record.detail = "did not return within \(deadline.milliseconds) ms of the test's end"
            context.settings.logger.warning("collector did not stop", ("collector", descriptor.name))
        }
        if descriptor.trace.isEmpty, failure == nil, hasEnded {
            record.state = .unavailable
            record.reason = "not_connected"
            record.detail = "the test was over before the collector had said what it records"
        }
        // A trace key that another collector owns, or that is not a legal key, must not appear in the report a second time.
        let ownsTrace = failure?.reason != "trace_taken" && failure?.reason != "bad_declaration" && !descriptor.trace.isEmpty
        return (record, ownsTrace ? snapshots : nil)
    }
}
