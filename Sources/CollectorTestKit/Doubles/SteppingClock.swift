public import CollectorCore
public import MeasurementModel
internal import Synchronization

/// The machine's clocks, with a wall clock that a test sets back and forth. Time passes by itself on both hands.
public final class SteppingClock: MeasurementClock {
    private let system = SystemMeasurementClock()
    private let offset = Mutex(Duration.zero)

    public init() {}

    public func now() -> MonotonicInstant { system.now() }
    public func wall() -> Timestamp { system.wall().adding(milliseconds: offset.withLock { $0 }.milliseconds) }

    /// The wall clock jumps by so much, in addition to the jumps before. Negative is backwards.
    public func step(by size: Duration) { offset.withLock { $0 += size } }
}
