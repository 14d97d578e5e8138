internal import Glibc
internal import MeasurementModel

/// A folder that is gone when its owner is.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        var template = Array("/tmp/fieldprobe-lab-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(errno: errno, call: "mkdtemp") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { _ = try? ChildProcess.run("rm", "-rf", path) }

    /// Writes a file and gives its path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        guard let stream = fopen(file, "we") else { throw SystemError(errno: errno, call: "open \(file)") }
        defer { fclose(stream) }
        fputs(text, stream)
        return file
    }

    /// A file's text; nil when it is not there.
    public static func read(_ file: String) -> String? {
        guard let stream = fopen(file, "re") else { return nil }
        defer { fclose(stream) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { octets += buffer[..<count] }
        return String(decoding: octets, as: UTF8.self)
    }
}
