internal import CLinux

/// A moment on `CLOCK_BOOTTIME` (clock_gettime(2)): it runs on in suspend, and no clock step moves it.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since the machine started.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// This moment.
    public static func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: clinux_boottime_ns()) }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// What lies beyond what an instant can hold is its last moment.
    public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds.saturatingAdding(duration.nanoseconds))
    }

    /// What lies before what an instant can hold is its first moment.
    public static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds.saturatingSubtracting(duration.nanoseconds))
    }

    /// How long after the right one the left one is; negative where it is before.
    public static func - (left: MonotonicInstant, right: MonotonicInstant) -> Duration {
        .nanoseconds(left.nanoseconds.saturatingSubtracting(right.nanoseconds))
    }
}

extension Duration {
    /// The whole duration in nanoseconds; one of more than 292 years is as long as that.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        return whole.saturatingAdding(attoseconds / 1_000_000_000)
    }

    /// The whole duration in milliseconds, rounded down.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The duration in seconds.
    public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

extension Int64 {
    fileprivate func saturatingAdding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    fileprivate func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
