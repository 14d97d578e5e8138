internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// One call that blocks and cannot be interrupted (getaddrinfo, gps_open), on a thread of its own: the collector waits for it as for a
/// descriptor, and leaves it behind when the test ends. A result that nobody takes is released with it.
final class BlockingCall<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var thread: pthread_t?
    }

    /// Readable once the result is there.
    let descriptor: Int32
    private let state = Mutex(State())

    /// Starts the call. Its thread inherits the network namespace and the priority of the calling one.
    init(_ body: @escaping @Sendable () -> Value) throws(SystemError) {
        descriptor = clinux_eventfd()
        if descriptor < 0 { throw SystemError(errno: -descriptor, call: "eventfd") }
        let work = Work { [self] in
            let value = body()
            state.withLock { $0.value = value }
            var one: UInt64 = 1
            _ = write(descriptor, &one, 8)
        }
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(work)
        let error = pthread_create(
            &thread, nil,
            { @Sendable argument in
                Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard error == 0 else {
            retained.release()
            throw SystemError(errno: error, call: "pthread_create")
        }
        state.withLock { $0.thread = thread }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        // Nobody took the result: the thread cleans up after itself.
        if let thread = state.withLock({ $0.thread }) { pthread_detach(thread) }
    }

    /// The result, once ``descriptor`` is readable; the thread is gone then.
    func take() -> Value? {
        let (value, thread) = state.withLock { state in
            defer { state = State() }
            return (state.value, state.thread)
        }
        if let thread { pthread_join(thread, nil) }
        return value
    }
}

/// What a thread runs: a C function pointer can carry one object only.
private final class Work: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func run() { body() }
}
