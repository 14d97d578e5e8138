public import MeasurementModel

/// The two clocks of a measurement: one that measures and one that labels.
public protocol MeasurementClock: Sendable {
    func now() -> MonotonicInstant
    func wall() -> Timestamp
}

/// `CLOCK_BOOTTIME` and `CLOCK_REALTIME` (clock_gettime(2)).
public struct SystemMeasurementClock: MeasurementClock {
    public init() {}
    public func now() -> MonotonicInstant { .now() }
    public func wall() -> Timestamp { .now() }
}
