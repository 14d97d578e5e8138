internal import CLinux
internal import Glibc
package import MeasurementModel

/// Runs blocking code on a thread of its own: the cooperative pool of a two-core probe has no thread to spare. The thread inherits the
/// network namespace of the thread that starts it.
package enum OwnThread {
    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// - Parameter name: 15 octets at most.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(name, body))
        let error = pthread_create(
            &thread, nil,
            { @Sendable argument in
                let work = Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue()
                clinux_name_thread(work.name)
                work.body()
                return nil
            }, work.toOpaque())
        guard error == 0 else {
            work.release()
            throw SystemError(errno: error, call: "pthread_create")
        }
        pthread_detach(thread)
    }

    /// What the body gives. Cancelling the waiting task does not end the body.
    package static func value<Value: Sendable>(_ name: String, _ body: @escaping @Sendable () -> Result<Value, any Error>) async throws
        -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try start(name) { continuation.resume(with: body()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
