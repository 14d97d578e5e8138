internal import CLinux
internal import Glibc
public import MeasurementModel
public import ProbeLog

/// What a collector knows of the test that it runs beside. It grows by fields.
public struct CollectionSession: Sendable {
    public let kind: TestKind
    public let target: SessionTarget
    public let permissions: Permissions
    public let clock: any MeasurementClock
    public let logger: Logger
    /// The test's start.
    public let startedAt: MonotonicInstant
    /// How long after the test's end the collector may take to return before it is given up.
    public let stopDeadline: Duration
    let attention: Attention

    init(
        kind: TestKind, target: SessionTarget, permissions: Permissions, clock: any MeasurementClock, logger: Logger,
        startedAt: MonotonicInstant, stopDeadline: Duration, attention: Attention
    ) {
        self.kind = kind
        self.target = target
        self.permissions = permissions
        self.clock = clock
        self.logger = logger
        self.startedAt = startedAt
        self.stopDeadline = stopDeadline
        self.attention = attention
    }

    /// Blocks the collector's thread until a descriptor is ready, the test ends, the target becomes known, or the time has come.
    ///
    /// It costs nothing while it waits: one poll(2). Only the collector's own thread may call it.
    ///
    /// - Parameters:
    ///   - readable: descriptors that are waited for until they can be read.
    ///   - writable: descriptors that are waited for until they can be written.
    ///   - instant: nil waits without limit.
    /// - Returns: what happened; several things at once are told together.
    public func wait(readable: [Int32] = [], writable: [Int32] = [], until instant: MonotonicInstant? = nil) -> Wake {
        if Task.isCancelled { return Wake(ready: [], isCancelled: true, hasAttention: true) }
        var descriptors = [pollfd(fd: attention.descriptor, events: Int16(POLLIN), revents: 0)]
        descriptors += readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        descriptors += writable.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        let left = instant.map { max(0, ($0 - clock.now()).nanoseconds) } ?? -1
        _ = clinux_poll(&descriptors, descriptors.count, left)
        let attended = descriptors[0].revents != 0
        if attended { attention.clear() }
        return Wake(
            ready: Set(descriptors.dropFirst().lazy.filter { $0.revents != 0 }.map(\.fd)), isCancelled: Task.isCancelled,
            hasAttention: attended)
    }

    /// Why ``wait(readable:writable:until:)`` returned. Nothing set means that the time had come.
    public struct Wake: Sendable {
        /// Ready to read or write, or in error: the next call on it tells.
        public let ready: Set<Int32>
        /// The test has ended.
        public let isCancelled: Bool
        /// The test ended or its target changed.
        public let hasAttention: Bool
    }
}

/// An eventfd(2) that wakes a collector out of its wait.
final class Attention: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = clinux_eventfd()
        if descriptor < 0 { throw SystemError(errno: -descriptor, call: "eventfd") }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
