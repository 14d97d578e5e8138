internal import CLinux
internal import Glibc

/// Runs blocking code on a thread of its own: the cooperative pool of a two-core probe has no thread to spare.
enum QueueThread {
    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// - Parameter name: 15 octets at most.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(QueueError) {
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
            throw .failed("pthread_create", name, error)
        }
        pthread_detach(thread)
    }

    /// What the body gives. Where no thread can be had, it blocks the caller's.
    static func value<Value: Sendable>(_ name: String, _ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            do throws(QueueError) {
                try start(name) { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(returning: body())
            }
        }
    }
}
