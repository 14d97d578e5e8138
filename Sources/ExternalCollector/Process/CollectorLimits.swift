/// What a foreign collector may take. The defaults leave room for an interpreter and none for a runaway.
public struct CollectorLimits: Sendable, Hashable {
    /// Octets of private memory of each of its processes: `RLIMIT_DATA` (getrlimit(2)). An allocation beyond it fails.
    public var memory: Int64 = 256 << 20
    /// Processor time that it and what it starts may use at once, whatever the test's length, in seconds.
    public var processorBurst = 10.0
    /// And beyond that, the share of one processor in the long run.
    public var processorShare = 0.1
    /// Descriptors: `RLIMIT_NOFILE`.
    public var descriptors = 256
    /// Octets of one line.
    public var line = 64 << 10
    /// Lines a second in the long run, and at once. A line of more than 4 KiB counts as several.
    public var linesPerSecond = 150.0
    public var lineBurst = 1500.0
    /// How long it may take from its start to its descriptor.
    public var handshake: Duration = .seconds(10)

    public init() {}
}
