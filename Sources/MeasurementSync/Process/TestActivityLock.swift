internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// The tests' side of the line: a process in which tests run holds the activity lock, shared with other such processes. Who sends holds it
/// alone. So a test that has the lock knows that no octet flows, and the kernel gives it back for a process that dies.
///
/// Opening the file tells the sender, which watches it, to break off. The lock is had as soon as it has.
final class TestActivityLock: Sendable {
    private struct State {
        var tests = 0
        var lock: KernelLock?
        var isHeld = false
        /// A thread is at it.
        var isTaking = false
    }

    private let state = Mutex(State())
    private let folder: StateFolder
    private let logger: Logger

    init(_ folder: StateFolder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    var tests: Int { state.withLock { $0.tests } }

    /// No octet flows from this state folder, in any process.
    var isHeld: Bool { state.withLock { $0.isHeld } }

    /// Never blocks: where the lock is not to be had at once, a thread goes after it.
    ///
    /// - Returns: this is the first of the tests that run in this process.
    func begin() -> Bool {
        state.withLock { state in
            state.tests += 1
            guard state.tests == 1 else { return false }
            if !attempt(&state), !state.isTaking {
                state.isTaking = true
                do throws(QueueError) {
                    try QueueThread.start("queue-quiet") { [self] in insist() }
                } catch {
                    state.isTaking = false
                    logger.error("no thread to wait for silence", ("reason", error.description))
                }
            }
            return true
        }
    }

    /// - Returns: this was the last of them; nil where none was running.
    func end() -> Bool? {
        state.withLock { state in
            guard state.tests > 0 else { return nil }
            state.tests -= 1
            guard state.tests == 0 else { return false }
            // The descriptor closes with it, which tells the sender.
            state.lock = nil
            state.isHeld = false
            return true
        }
    }

    /// Takes the lock if it is free; under the state's lock.
    private func attempt(_ state: inout State) -> Bool {
        do throws(QueueError) {
            if state.lock?.isCurrent != true {
                try folder.create()
                state.lock = try KernelLock(folder.activityLock)
            }
            state.isHeld = state.lock?.tryShared() ?? false
            // Somebody may have deleted the file between the two.
            if state.isHeld, state.lock?.isCurrent != true {
                state.lock = nil
                state.isHeld = false
            }
        } catch {
            state.lock = nil
            logger.error("tests of this process cannot silence other processes", ("reason", error.description))
        }
        return state.isHeld
    }

    /// Goes on until it has the lock or nobody needs it any more. The sender needs milliseconds; but for one that is stopped or hangs.
    private func insist() {
        var tries = 0
        while true {
            let isOver = state.withLock { state in
                let isOver = state.tests == 0 || attempt(&state)
                if isOver { state.isTaking = false }
                return isOver
            }
            if isOver { return }
            tries += 1
            // It is told again now and then: it may have begun the next upload before this thread was woken.
            if tries % 20 == 0 { KernelLock.knock(folder.activityLock) }
            usleep(tries < 2000 ? 1000 : 100_000)
        }
    }
}
