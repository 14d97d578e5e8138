internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Small files that only their owner may read.
enum DurableFile {
    /// The text; nil when there is no such file.
    static func read(_ path: String) throws -> String? {
        let descriptor = clinux_open(path, O_RDONLY, 0)
        if descriptor == -ENOENT { return nil }
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "open \(path)") }
        defer { close(descriptor) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while octets.count < 1 << 20 {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw SystemError(errno: errno, call: "read \(path)") }
            if count == 0 { break }
            octets += buffer[..<count]
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Writes a new file with mode 0600 so that a loss of power leaves all of it or nothing.
    static func create(_ path: String, _ text: String) throws {
        let temporary = "\(path).new"
        let descriptor = clinux_open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "create \(temporary)") }
        let error = Output.write(Array(text.utf8), to: descriptor)
        let isSafe = error == 0 && fsync(descriptor) == 0
        let reason = error != 0 ? error : errno
        close(descriptor)
        guard isSafe, rename(temporary, path) == 0 else {
            throw SystemError(errno: isSafe ? errno : reason, call: "write \(path)")
        }
        let folder = clinux_open(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), O_RDONLY | O_DIRECTORY, 0)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}
