internal import CLinux
internal import Glibc

/// A few threads with one bounded queue: what the HTTP library's threads must not do themselves, because it blocks.
final class WorkerLane: @unchecked Sendable {
    // The lock guards everything below it. A condition variable needs a place that never moves.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [@Sendable () -> Void] = []
    private var head = 0
    private var isEnding = false
    private var threads: [pthread_t] = []
    private let capacity: Int

    init(name: String, threads count: Int, capacity: Int) {
        self.capacity = capacity
        pthread_mutex_init(lock, nil)
        pthread_cond_init(change, nil)
        for _ in 0..<count {
            var thread = pthread_t()
            let start = Unmanaged.passRetained(Start(lane: self, name: name))
            let error = pthread_create(
                &thread, nil,
                { @Sendable argument in
                    let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                    clinux_name_thread(start.name)
                    start.lane.work()
                    return nil
                }, start.toOpaque())
            guard error == 0 else { fatalError("no thread can be started: \(error)") }
            threads.append(thread)
        }
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(lock)
        change.deallocate()
        lock.deallocate()
    }

    /// False when the queue is full or the lane is ending: the caller says that the server is busy.
    func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        guard !isEnding, jobs.count - head < capacity else { return false }
        jobs.append(job)
        pthread_cond_signal(change)
        return true
    }

    /// Does what is queued, and ends.
    func end() {
        pthread_mutex_lock(lock)
        isEnding = true
        pthread_cond_broadcast(change)
        let threads = threads
        self.threads = []
        pthread_mutex_unlock(lock)
        for thread in threads { pthread_join(thread, nil) }
    }

    private func work() {
        while let job = next() { job() }
    }

    private func next() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while head == jobs.count {
            if isEnding { return nil }
            pthread_cond_wait(change, lock)
        }
        let job = jobs[head]
        head += 1
        if head == jobs.count || head > 1024 {
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }

    private final class Start: Sendable {
        let lane: WorkerLane
        let name: String
        init(lane: WorkerLane, name: String) {
            self.lane = lane
            self.name = name
        }
    }
}
