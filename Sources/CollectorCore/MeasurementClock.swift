public import MeasurementModel

/// The two clocks of a measurement: one that measures and one that labels.
public protocol MeasurementClock: Sendable {
    /// The moment on the clock that no step moves: for durations, offsets and deadlines.
    func now() -> MonotonicInstant
    /// The moment on the device's wall clock: only for labels.
    func wall() -> Timestamp
}

/// `CLOCK_BOOTTIME` and `CLOCK_REALTIME` (clock_gettime(2)).
public struct SystemMeasurementClock: MeasurementClock {
    public init() {}
    public func now() -> MonotonicInstant { .now() }
    public func wall() -> Timestamp { .now() }
}
