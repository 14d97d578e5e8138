import Glibc
import LabSupport

enum Files {
    static func octets(_ path: String) throws -> [UInt8] {
        guard let stream = fopen(path, "re") else { throw LabError("\(path) cannot be read") }
        defer { fclose(stream) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { octets += buffer[..<count] }
        return octets
    }

    static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}

extension TemporaryFolder {
    /// Whether a process runs under a sanitizer: then it maps terabytes for its own use, which no other process here does.
    static func isSanitized(_ pid: Int32) -> Bool {
        let line = (read("/proc/\(pid)/status") ?? "").split(separator: "\n").first { $0.hasPrefix("VmSize:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 > 1 << 30 } ?? false
    }
}
