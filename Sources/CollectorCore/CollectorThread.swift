internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// One thread that runs one collector's task: a collector that blocks costs nobody else a thread of the small cooperative pool.
///
/// The thread inherits the network namespace of the thread that makes it, and yields to the measurement by its nice value.
final class CollectorThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    nonisolated(unsafe) private let wake: UnsafeMutablePointer<sem_t>
    private let handle = Mutex<pthread_t?>(nil)
    private let name: String

    /// Steps by which a collector's thread is nicer than the program.
    private static let nice: Int32 = 5

    init(name: String) throws(SystemError) {
        self.name = name
        wake = .allocate(capacity: 1)
        sem_init(wake, 0, 0)
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(self)
        let error = pthread_create(
            &thread, nil,
            { @Sendable argument in
                Unmanaged<CollectorThread>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard error == 0 else {
            retained.release()
            throw SystemError(errno: error, call: "pthread_create")
        }
        handle.withLock { $0 = thread }
    }

    deinit {
        sem_destroy(wake)
        wake.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        sem_post(wake)
    }

    var isCurrent: Bool {
        handle.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Ends the thread once its jobs are done. The collector's task calls it as its last act.
    func stop() {
        state.withLock { $0.isStopped = true }
        sem_post(wake)
    }

    /// Waits for the thread's end, which must be near: after ``stop()`` was called on it.
    func join() {
        let thread = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let thread { pthread_join(thread, nil) }
    }

    /// Gives up on a thread that did not end: it cleans up after itself if it ever does.
    func abandon() {
        let thread = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let thread { pthread_detach(thread) }
    }

    private func run() {
        clinux_name_thread(name)
        _ = clinux_renice_thread(Self.nice)
        while true {
            while sem_wait(wake) != 0 {}
            let (job, isStopped): (UnownedJob?, Bool) = state.withLock { state in
                let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                return (job, state.isStopped && state.jobs.isEmpty)
            }
            job?.runSynchronously(on: asUnownedTaskExecutor())
            if isStopped, state.withLock({ $0.jobs.isEmpty }) { return }
        }
    }
}
