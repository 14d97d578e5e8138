import Dispatch

/// Runs a body that blocks on a thread of its own, and still within the task of its test: what it expects is told under the test's name, and
/// none of the few threads that all tasks share waits for a server.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(BlockingExecutor.shared) { @concurrent in try body() }
}

private final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()
    private let queue = DispatchQueue(label: "blocking tests")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
