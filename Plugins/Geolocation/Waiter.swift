internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// Waits on the collector's thread, and keeps the trace informed that it still lives.
struct Waiter<Trace: TraceWriter> {
    let session: CollectionSession
    let trace: Trace
    let heartbeat: Duration
    private var lastBeat: MonotonicInstant
    /// What to tell at each beat; nil while fixes come, each of which is a sign of life.
    var standing: (reason: StateReason, detail: String?)? = (.noDaemon, "not connected yet")

    init(session: CollectionSession, trace: Trace, heartbeat: Duration) {
        self.session = session
        self.trace = trace
        self.heartbeat = heartbeat
        lastBeat = session.clock.now()
    }

    enum Wake { case ready, timeUp, cancelled }

    /// Until one of the descriptors is ready, the time has come, or the test ends.
    mutating func wait(readable: [Int32] = [], writable: [Int32] = [], until instant: MonotonicInstant) -> Wake {
        while true {
            let wake = session.wait(readable: readable, writable: writable, until: min(instant, lastBeat + heartbeat))
            if wake.isCancelled { return .cancelled }
            let now = session.clock.now()
            if now >= lastBeat + heartbeat { beat(at: now) }
            if !wake.ready.isEmpty { return .ready }
            if now >= instant { return .timeUp }
        }
    }

    private mutating func beat(at now: MonotonicInstant) {
        lastBeat = now
        if let standing { trace.unavailable(standing.reason, detail: standing.detail) }
    }
}
