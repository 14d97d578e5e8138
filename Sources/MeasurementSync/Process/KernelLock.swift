internal import CLinux
internal import Glibc
internal import MeasurementModel

/// flock(2) on a file that exists for nothing else. The kernel drops the lock with the last descriptor, and so with a process that dies
/// in whatever way; it works on a full and on a read-only disk, and `flock(1)` takes the same locks from a shell.
final class KernelLock: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws(QueueError) {
        self.path = path
        var opened = clinux_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        // A lock needs no permission to write.
        if opened == -EROFS || opened == -EACCES { opened = clinux_open(path, O_RDONLY | O_NOFOLLOW, 0) }
        guard opened >= 0 else { throw .failed("open", path, -opened) }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func tryExclusive() -> Bool { attempt(LOCK_EX) }
    func tryShared() -> Bool { attempt(LOCK_SH) }
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// The path still names this file. A lock on a file that somebody has deleted excludes nobody.
    var isCurrent: Bool {
        var here = stat()
        var there = stat()
        return fstat(descriptor, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev
    }

    private func attempt(_ kind: Int32) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Opens the file and closes it again: processes that watch it are told, whatever the disk can still take.
    static func knock(_ path: String) {
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW, 0)
        if descriptor >= 0 { close(descriptor) }
    }
}
