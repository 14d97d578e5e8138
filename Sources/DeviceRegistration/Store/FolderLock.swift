internal import CLinux
internal import Glibc
internal import MeasurementModel

/// The lock of the state folder: one writer at a time, in whichever process. The kernel drops it with the process (flock(2)).
final class FolderLock {
    private let descriptor: Int32

    /// - Returns: nil when somebody else holds it.
    static func tryAcquire(_ path: String) throws(SystemError) -> FolderLock? {
        let descriptor = clinux_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "open \(path)") }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let error = errno
            if error == EINTR { continue }
            close(descriptor)
            if error == EWOULDBLOCK { return nil }
            throw SystemError(errno: error, call: "flock \(path)")
        }
        return FolderLock(descriptor: descriptor)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Unlocked before it is closed: a child process that is just being started by another thread has the descriptor, too, until its exec, and
    /// would hold the lock for so long.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
