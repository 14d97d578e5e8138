import Dispatch
import FieldProbe
import Glibc
import Synchronization

/// The app's own measurement: how long a TCP connection takes, and how many octets a second get through one.
struct LoopbackMeasurement: Sendable {
    /// Connections whose set-up is timed.
    var connections = 20
    /// How long octets are sent for.
    var sendingTime: Duration = .seconds(1)

    /// Measures on a thread that may block: the few threads of Swift's concurrency have other work to do.
    ///
    /// - Parameter port: of a ``LoopbackServer`` on 127.0.0.1.
    /// - Throws: `SystemError` where a call fails, `CancellationError` soon after the task is cancelled.
    func run(port: UInt16) async throws -> LoopbackResult {
        let stop = StopFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { @Sendable in continuation.resume(with: Result { try measure(port, stop) }) }
            }
        } onCancel: {
            stop.raise()
        }
    }

    private func measure(_ port: UInt16, _ stop: StopFlag) throws -> LoopbackResult {
        var times: [Duration] = []
        for _ in 0..<connections {
            try stop.check()
            let start = MonotonicInstant.now()
            let connection = try TCPConnection(port: port)
            times.append(MonotonicInstant.now() - start)
            _ = try connection.finish()
        }
        let connection = try TCPConnection(port: port)
        let block = [UInt8](repeating: 0x2A, count: 128 * 1024)
        let start = MonotonicInstant.now()
        while MonotonicInstant.now() - start < sendingTime {
            try stop.check()
            try connection.send(block)
        }
        // What counts is what arrived: the time ends when the server has told how much that was.
        let received = try connection.finish()
        return LoopbackResult(connectTimes: times, receivedOctets: received, duration: MonotonicInstant.now() - start)
    }
}

/// How a task that was cancelled tells a thread of its own.
private final class StopFlag: Sendable {
    private let isRaised = Atomic(false)

    func raise() { isRaised.store(true, ordering: .relaxed) }
    func check() throws { if isRaised.load(ordering: .relaxed) { throw CancellationError() } }
}
