internal import CLinux
internal import CollectorCore
internal import Glibc

/// Waits for processes that were given up: a process in an uninterruptible wait (a hung network file system, a device) ends when the kernel
/// lets it, and must not stay behind as a zombie then.
enum Reaper {
    static func adopt(_ pid: Int32) {
        // Without a thread it stays a zombie until this process ends: there is nothing else to try.
        try? OwnThread.start("reaper") { _ = clinux_waitpid(pid, nil, 0) }
    }
}
