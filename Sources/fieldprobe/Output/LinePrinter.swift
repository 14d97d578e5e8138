internal import CollectorCore
internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import QualityTests
internal import Synchronization

/// Prints lines on a thread of its own, so that a slow reader never holds up who has them. Lines that find the queue full are dropped and
/// counted.
final class LinePrinter: Sendable {
    private struct State {
        var lines: [String] = []
        var dropped = 0
        var isEnding = false
        var failure: Int32 = 0
    }

    private let state = Mutex(State())
    private let output: Int32
    private let capacity: Int
    private let tellDropped: @Sendable (Int) -> Void
    private let wake = clinux_eventfd()
    /// Ready once nothing is printed any more: the reader has left, or ``finish()`` is done.
    let ended = clinux_eventfd()

    /// - Parameter tellDropped: told how many lines were dropped, at most once a second.
    init(
        descriptor: Int32, capacity: Int = 4096,
        tellDropped: @escaping @Sendable (Int) -> Void = { Output.complain("\($0) lines dropped, because they are not read fast enough") }
    ) throws {
        output = descriptor
        self.capacity = capacity
        self.tellDropped = tellDropped
        guard wake >= 0, ended >= 0 else { throw SystemError(errno: EMFILE, call: "eventfd") }
        try OwnThread.start("printer") { [self] in run() }
    }

    deinit {
        close(wake)
        close(ended)
    }

    /// The errno for which nothing is printed any more; 0 while all is well, and for a reader that has left.
    var failure: Int32 { state.withLock { $0.failure } }

    /// Never blocks.
    func put(_ line: String) {
        let hadNone = state.withLock { state in
            guard state.lines.count < capacity else {
                state.dropped += 1
                return false
            }
            state.lines.append(line)
            return state.lines.count == 1
        }
        if hadNone { signal(wake) }
    }

    /// Prints what is left; at most for a second, because a reader may have stopped reading for good.
    func finish() {
        state.withLock { $0.isEnding = true }
        signal(wake)
        var event = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        _ = clinux_poll(&event, 1, 1_000_000_000)
    }

    private func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    private func run() {
        defer { signal(ended) }
        var nextTelling = MonotonicInstant.now()
        while true {
            var events = [
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
                // Without an event to wait for, poll(2) tells only that the reader has left.
                pollfd(fd: output, events: 0, revents: 0),
            ]
            _ = clinux_poll(&events, 2, -1)
            if events[1].revents != 0 { return }
            var count: UInt64 = 0
            _ = read(wake, &count, 8)
            let now = MonotonicInstant.now()
            let (lines, dropped, isEnding) = state.withLock { state in
                let tells = now >= nextTelling || state.isEnding
                defer {
                    state.lines = []
                    if tells { state.dropped = 0 }
                }
                return (state.lines, tells ? state.dropped : 0, state.isEnding)
            }
            let error = Output.write(Array(lines.joined(separator: "\n").utf8) + (lines.isEmpty ? [] : [10]), to: output)
            guard error == 0 else {
                if error != EPIPE { state.withLock { $0.failure = error } }
                return
            }
            if dropped > 0 {
                tellDropped(dropped)
                nextTelling = now + .seconds(1)
            }
            if isEnding { return }
        }
    }
}
