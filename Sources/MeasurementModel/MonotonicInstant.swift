internal import CLinux

/// A moment on `CLOCK_BOOTTIME` (clock_gettime(2)): it runs on in suspend, and no clock step moves it.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since the machine started.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: clinux_boottime_ns()) }

    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds + duration.nanoseconds)
    }

    public static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds - duration.nanoseconds)
    }

    public static func - (left: MonotonicInstant, right: MonotonicInstant) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}

extension Duration {
    /// The whole duration in nanoseconds.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The whole duration in milliseconds, rounded down.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The duration in seconds.
    public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
