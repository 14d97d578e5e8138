internal import CLinux
internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import QualityTests
internal import Synchronization

/// The signals that ask this program to end, as octets in a pipe. One per process.
final class EndSignals: Sendable {
    let descriptor: Int32
    private let input: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        let made = clinux_pipe(&ends)
        guard made == 0 else { throw SystemError(errno: -made, call: "pipe2") }
        for end in ends { _ = clinux_set_nonblocking(end, 1) }
        descriptor = ends[0]
        input = ends[1]
        // nohup(1) means it.
        let wanted = [SIGINT, SIGTERM, SIGHUP].filter { clinux_is_ignored($0) == 0 }
        let error = clinux_relay_signals_to(input, wanted, wanted.count)
        guard error == 0 else { throw SystemError(errno: -error, call: "sigaction") }
    }

    /// Ends a wait for a signal without one.
    func release() {
        var none: UInt8 = 0
        _ = Glibc.write(input, &none, 1)
    }

    /// Blocks until a signal comes, another descriptor is ready, or the time has come.
    ///
    /// - Returns: the signal; nil for any other reason.
    func wait(or other: Int32? = nil, until end: MonotonicInstant? = nil) -> Int32? {
        var events = ([descriptor] + (other.map { [$0] } ?? [])).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let left = end.map { max(0, ($0 - .now()).nanoseconds) } ?? -1
        _ = clinux_poll(&events, events.count, left)
        var number: UInt8 = 0
        guard events[0].revents != 0, read(descriptor, &number, 1) == 1, number != 0 else { return nil }
        // The eighth bit tells who sent it, which makes no difference here.
        return Int32(number & 0x7F)
    }
}

/// Cancels a measurement when this program is asked to end, so that its report is still written.
enum Interruption {
    /// - Returns: what the body gave, and the signal that cut it short.
    static func watch<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, signal: Int32?) {
        let signals = try EndSignals()
        let arrival = Arrival()
        let task = Task { try await body() }
        try OwnThread.start("signals") {
            guard let number = signals.wait() else { return }
            arrival.set(number)
            task.cancel()
        }
        let result = await task.result
        signals.release()
        return (try result.get(), arrival.value)
    }

    private final class Arrival: Sendable {
        private let number = Mutex<Int32?>(nil)
        var value: Int32? { number.withLock { $0 } }
        func set(_ signal: Int32) { number.withLock { $0 = signal } }
    }
}
