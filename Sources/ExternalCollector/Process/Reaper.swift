internal import CLinux
internal import Glibc

/// Waits for processes that were given up: a process in an uninterruptible wait (a hung network file system, a device) ends when the kernel
/// lets it, and must not stay behind as a zombie then.
enum Reaper {
    static func adopt(_ pid: Int32) {
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { @Sendable argument in
                clinux_name_thread("reaper")
                _ = clinux_waitpid(Int32(Int(bitPattern: argument)), nil, 0)
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(pid)))
        if error == 0 { pthread_detach(thread) }
    }
}
