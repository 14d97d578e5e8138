internal import CLinux
internal import Glibc
internal import Synchronization

/// A file that is written under a name nobody looks at, and gets its real one only when all of it is on the disk.
///
/// Its writer holds a lock on it: what bears such a name and is not locked was left behind by a process that died (``sweep(_:)``).
struct DurableFile {
    static let prefix = ".new-"
    private static let serial = Atomic<UInt64>(0)

    private let folder: String
    private let path: String
    private let descriptor: Int32

    /// - Throws: ``QueueError``; nothing is left behind.
    static func write(_ octets: [UInt8], in folder: String) throws(QueueError) -> DurableFile {
        let file = try DurableFile(in: folder)
        do throws(QueueError) {
            try file.fill(octets)
        } catch {
            file.discard()
            throw error
        }
        return file
    }

    private init(in folder: String) throws(QueueError) {
        self.folder = folder
        while true {
            let serial = Self.serial.wrappingAdd(1, ordering: .relaxed).newValue
            let path = "\(folder)/\(Self.prefix)\(getpid())-\(serial)-\(UInt32.random(in: .min ... .max))"
            let descriptor = clinux_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
            if descriptor == -EEXIST { continue }
            guard descriptor >= 0 else { throw .failed("open", path, -descriptor) }
            // Between the two calls a sweeper may have taken the file for a dead process's: then it is gone, and there is another try.
            var facts = stat()
            if flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &facts) == 0, facts.st_nlink > 0 {
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    private func fill(_ octets: [UInt8]) throws(QueueError) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .failed("write", path, count < 0 ? errno : ENOSPC) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw .failed("fsync", path, errno) }
    }

    /// Gives the file its name, durably. Consumes it.
    func publish(as name: String) throws(QueueError) {
        guard rename(path, "\(folder)/\(name)") == 0 else {
            let error = errno
            discard()
            throw .failed("rename", path, error)
        }
        close(descriptor)
        try StateFolder.synchronise(folder)
    }

    /// Takes the file away. Consumes it.
    func discard() {
        unlink(path)
        close(descriptor)
    }

    /// Removes what dead processes left behind.
    ///
    /// - Returns: how many.
    @discardableResult
    static func sweep(_ folder: String) throws(QueueError) -> Int {
        var count = 0
        for name in try StateFolder.names(in: folder) where name.hasPrefix(prefix) {
            let path = "\(folder)/\(name)"
            let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
            guard descriptor >= 0 else { continue }
            // The name is what is removed: a file that has got its real name meanwhile keeps it.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, unlink(path) == 0 { count += 1 }
            close(descriptor)
        }
        return count
    }
}
