internal import MeasurementModel

/// How much one collector may say. The defaults leave room for a 25 Hz receiver for an hour, and none for a runaway.
public struct TraceLimits: Sendable {
    /// Records, gaps and states a second, in the long run.
    public var recordsPerSecond = 200.0
    /// Records at once.
    public var burst = 2000.0
    /// Snapshots that one trace keeps.
    public var maximumSnapshots = 100_000
    /// Octets of memory that one trace's snapshots may take, by estimate: room for an hour of a 25 Hz receiver.
    public var maximumMemory = 32 << 20
    /// Gaps that are listed one by one.
    public var maximumGaps = 1000
    /// Gaps that are open at the same time, of reasons that a collector gives.
    public var maximumOpenGaps = 64

    public init() {}
}

/// A budget that fills with time.
struct TokenBucket {
    private var tokens: Double
    private var filledAt: MonotonicInstant
    private let limits: TraceLimits

    init(limits: TraceLimits, now: MonotonicInstant) {
        self.limits = limits
        tokens = limits.burst
        filledAt = now
    }

    /// Whether there was something left to take.
    mutating func take(at now: MonotonicInstant) -> Bool {
        tokens = min(limits.burst, tokens + max(0, (now - filledAt).inSeconds) * limits.recordsPerSecond)
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
