/// Waiting times between attempts to connect: doubling, with jitter, so that many probes of one gpsd do not knock in step. A value.
struct BackOff: Sendable {
    private let first: Duration
    private let longest: Duration
    private var next: Duration

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        next = first
    }

    mutating func reset() { next = first }

    /// The next wait.
    ///
    /// - Parameter random: 0 to 1; the wait is shortened by up to a quarter.
    mutating func wait(random: Double) -> Duration {
        defer { next = min(longest, next * 2) }
        return next * (1 - 0.25 * min(1, max(0, random)))
    }
}
