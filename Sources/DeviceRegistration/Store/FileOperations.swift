internal import CLinux
internal import Glibc
internal import MeasurementModel

/// The file operations of the store, one by one: so that tests can end the program at each of them.
protocol FileOperations: Sendable {
    func makeFolder(_ path: String, mode: mode_t) throws(SystemError)
    func setMode(_ path: String, _ mode: mode_t) throws(SystemError)
    /// - Returns: nil when there is no such file.
    func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]?
    /// A new file in place of any old one of this name, on the disk when this returns.
    func write(_ path: String, _ octets: [UInt8], mode: mode_t) throws(SystemError)
    /// A second name for a file.
    func link(_ path: String, as other: String) throws(SystemError)
    func rename(_ path: String, to other: String) throws(SystemError)
    /// Removing what is not there is no error.
    func remove(_ path: String) throws(SystemError)
    /// Names that were made, changed or removed in the folder are on the disk when this returns.
    func syncFolder(_ path: String) throws(SystemError)
}

/// The real ones.
struct SystemFiles: FileOperations {
    func makeFolder(_ path: String, mode: mode_t) throws(SystemError) {
        guard mkdir(path, mode) != 0, errno != EEXIST else { return }
        throw SystemError(errno: errno, call: "mkdir \(path)")
    }

    func setMode(_ path: String, _ mode: mode_t) throws(SystemError) {
        guard chmod(path, mode) != 0 else { return }
        throw SystemError(errno: errno, call: "chmod \(path)")
    }

    func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? {
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW, 0)
        if descriptor == -ENOENT { return nil }
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "open \(path)") }
        defer { close(descriptor) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while octets.count <= limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return octets }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(errno: errno, call: "read \(path)") }
            octets += buffer[..<count]
        }
        throw SystemError(errno: EFBIG, call: "read \(path)")
    }

    func write(_ path: String, _ octets: [UInt8], mode: mode_t) throws(SystemError) {
        try remove(path)
        let descriptor = clinux_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "open \(path)") }
        var failure: SystemError?
        do {
            try writeAll(octets, to: descriptor, path)
            if fsync(descriptor) != 0 { failure = SystemError(errno: errno, call: "fsync \(path)") }
        } catch {
            failure = error
        }
        // close(2) tells the errors of a network's file system.
        if close(descriptor) != 0, failure == nil { failure = SystemError(errno: errno, call: "close \(path)") }
        guard let failure else { return }
        unlink(path)
        throw failure
    }

    private func writeAll(_ octets: [UInt8], to descriptor: Int32, _ path: String) throws(SystemError) {
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(errno: errno, call: "write \(path)") }
            written += count
        }
    }

    func link(_ path: String, as other: String) throws(SystemError) {
        guard Glibc.link(path, other) != 0 else { return }
        throw SystemError(errno: errno, call: "link \(path)")
    }

    func rename(_ path: String, to other: String) throws(SystemError) {
        guard Glibc.rename(path, other) != 0 else { return }
        throw SystemError(errno: errno, call: "rename \(path)")
    }

    func remove(_ path: String) throws(SystemError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw SystemError(errno: errno, call: "unlink \(path)")
    }

    func syncFolder(_ path: String) throws(SystemError) {
        let descriptor = clinux_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0 else { return }
        throw SystemError(errno: errno, call: "fsync \(path)")
    }
}
