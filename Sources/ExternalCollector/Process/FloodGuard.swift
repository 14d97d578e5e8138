internal import MeasurementModel

/// Decides when a program says too much, and when that is over. While it does, its output is thrown away unread, a pipe's content at a
/// time and with pauses: the pipe holds the program back, and neither reading nor writing costs the measurement anything worth mention. A
/// record that has waited in the pipe would carry a wrong time: that is why it is not kept.
struct FloodGuard {
    static let pause: Duration = .milliseconds(100)
    /// Octets that count as one line.
    private static let lineOctets = 4096.0

    private let limits: CollectorLimits
    private var budget: Double
    private var filledAt: MonotonicInstant
    /// Not before then is the pipe looked at again; nil outside of floods.
    private(set) var resumesAt: MonotonicInstant?

    init(limits: CollectorLimits, now: MonotonicInstant) {
        self.limits = limits
        budget = limits.lineBurst
        filledAt = now
    }

    var isFlood: Bool { resumesAt != nil }

    /// Takes the price of what has been read, or begins a flood.
    mutating func admits(lines: Int, octets: Int, at now: MonotonicInstant) -> Bool {
        budget = min(limits.lineBurst, budget + max(0, (now - filledAt).inSeconds) * limits.linesPerSecond)
        filledAt = now
        let price = Double(lines) + Double(octets) / Self.lineOctets
        guard budget >= price else {
            resumesAt = now + Self.pause
            return false
        }
        budget -= price
        return true
    }

    /// A pause's harvest was thrown away. A program that wrote no more than it may in that time has calmed down.
    mutating func discarded(lines: Int, octets: Int, at now: MonotonicInstant) {
        let price = Double(lines) + Double(octets) / Self.lineOctets
        resumesAt = price <= limits.linesPerSecond * Self.pause.inSeconds ? nil : now + Self.pause
    }
}
