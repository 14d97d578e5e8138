internal import MeasurementModel
internal import Synchronization

/// What is seen of one run of the collector. Counts only: no value is kept, so a run costs the same however much is said.
final class RunWatch: Sendable {
    struct Seen {
        /// The collector's own code has been called.
        var isEntered = false
        /// `collect` has been called: for a late collector, the real one's.
        var isCollecting = false
        /// When `collect` returned: nothing may be said since.
        var traceEndedAt: MonotonicInstant?
        /// When all of the collector's code had returned.
        var returnedAt: MonotonicInstant?
        var records = 0
        /// Records, gaps and states: what the recorder has a budget for.
        var said = 0
        /// Records that were given a moment.
        var stamped = 0
        /// Moments before the test's start or in the future, and by how much the worst was so.
        var stampedEarly = 0
        var stampedAhead = 0
        var earliest = Duration.zero
        var furthest = Duration.zero
    }

    let ledger: Ledger
    private let state = Mutex(Seen())

    init(ledger: Ledger) { self.ledger = ledger }

    var seen: Seen { state.withLock { $0 } }

    func entered() { state.withLock { $0.isEntered = true } }
    func collecting() { state.withLock { $0.isCollecting = true } }
    func traceEnded() { state.withLock { $0.traceEndedAt = .now() } }
    func returned() { state.withLock { $0.returnedAt = .now() } }

    /// A call of the trace, of whatever kind.
    func called(_ what: String) {
        let endedAt = state.withLock { $0.traceEndedAt }
        if let endedAt { ledger.calledLate(what, after: .now() - endedAt) }
    }

    func said(_ what: String) {
        called(what)
        state.withLock { $0.said += 1 }
    }

    func recorded(at instant: MonotonicInstant?, startedAt: MonotonicInstant, now: MonotonicInstant) {
        said("record")
        state.withLock { seen in
            seen.records += 1
            guard let instant else { return }
            seen.stamped += 1
            if instant < startedAt {
                seen.stampedEarly += 1
                seen.earliest = max(seen.earliest, startedAt - instant)
            } else if instant > now {
                seen.stampedAhead += 1
                seen.furthest = max(seen.furthest, instant - now)
            }
        }
    }
}
