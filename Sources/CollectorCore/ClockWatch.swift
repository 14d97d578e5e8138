public import MeasurementModel
internal import Synchronization

/// Notices steps of the wall clock while a test runs, by its distance from the monotonic clock.
public final class ClockWatch: Sendable {
    /// A jump of the wall clock that was seen between two looks at it.
    public struct Step: Sendable, Hashable {
        /// When it was seen, since the test's start.
        public let offset: Duration
        /// How far it jumped; negative is backwards.
        public let size: Duration
    }

    private struct State {
        var last: MonotonicInstant
        var difference: Int64
        var steps: [Step] = []
    }

    private let clock: any MeasurementClock
    private let start: MonotonicInstant
    private let state: Mutex<State>

    public init(clock: any MeasurementClock, start: MonotonicInstant) {
        self.clock = clock
        self.start = start
        let now = clock.now()
        state = Mutex(State(last: now, difference: clock.wall().milliseconds - now.nanoseconds / 1_000_000))
    }

    /// Looks at both clocks. NTP slews by at most 500 ppm (adjtimex(2)), which is no step; a tenth of a second more than that is.
    public func look() {
        let now = clock.now()
        let difference = clock.wall().milliseconds - now.nanoseconds / 1_000_000
        state.withLock { state in
            let jump = difference - state.difference
            let slew = (now - state.last).milliseconds / 2000
            if abs(jump) > 100 + slew, state.steps.count < 100 {
                state.steps.append(Step(offset: now - start, size: .milliseconds(jump)))
            }
            state.difference = difference
            state.last = now
        }
    }

    public var steps: [Step] { state.withLock { $0.steps } }
}
