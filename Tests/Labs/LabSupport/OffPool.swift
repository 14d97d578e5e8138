internal import Glibc

/// Runs a body that blocks on a thread of its own: in a test it would keep one of the few threads that all tests share from running.
public func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let work = Unmanaged.passRetained(ThreadBody { continuation.resume(with: Result(catching: body)) })
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { @Sendable argument in
                Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, work.toOpaque())
        if error == 0 { pthread_detach(thread) } else { work.takeRetainedValue().run() }
    }
}

/// What a thread runs: a C function pointer can carry one object only.
final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
