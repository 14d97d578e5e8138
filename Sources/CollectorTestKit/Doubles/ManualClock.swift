public import CollectorCore
public import MeasurementModel
internal import Synchronization

/// A clock that stands still until a test moves it. Both of its hands may be moved apart, as a clock step does.
public final class ManualClock: MeasurementClock {
    private struct State {
        var now: MonotonicInstant
        var wall: Timestamp
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - now: the monotonic clock's first answer; a value far from zero shows code that takes an instant for an offset.
    ///   - wall: the wall clock's first answer.
    public init(
        now: MonotonicInstant = MonotonicInstant(nanoseconds: 1_000_000_000_000),
        wall: Timestamp = Timestamp(milliseconds: 1_790_000_000_000)
    ) {
        state = Mutex(State(now: now, wall: wall))
    }

    public func now() -> MonotonicInstant { state.withLock { $0.now } }
    public func wall() -> Timestamp { state.withLock { $0.wall } }

    /// Time passes on both clocks.
    public func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now + duration
            state.wall = state.wall.adding(milliseconds: duration.milliseconds)
        }
    }

    /// The wall clock jumps, the monotonic one does not. Negative is backwards.
    public func step(by duration: Duration) {
        state.withLock { $0.wall = $0.wall.adding(milliseconds: duration.milliseconds) }
    }
}
