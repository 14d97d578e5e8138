internal import Synchronization

/// Runs asynchronous code on the thread that waits for it, which keeps it in that thread's network namespace.
final class CallingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let work = LabSemaphore()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        work.signal()
    }

    /// Returns when the body has. Until then the calling thread does nothing else.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
        let outcome = Outcome<Result>()
        Task(executorPreference: self) { [work] in
            let value = await body()
            outcome.value.withLock { $0 = value }
            work.signal()
        }
        while true {
            work.wait()
            if let value = outcome.value.withLock({ $0 }) { return value }
            if let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private final class Outcome<Result: Sendable>: Sendable {
        let value = Mutex<Result?>(nil)
    }
}
