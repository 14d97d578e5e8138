import Glibc
import LabSupport

/// The helper process of Tests/Labs/QueueWorker.
enum Worker {
    /// Beside the test bundle, where the build puts both.
    static let path: String = {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        let candidates = ([own] + CommandLine.arguments).map { $0.split(separator: "/").dropLast().joined(separator: "/") }
        for folder in candidates where access("/\(folder)/QueueWorker", X_OK) == 0 { return "/\(folder)/QueueWorker" }
        return Lab.path("../../.build/debug/QueueWorker")
    }()

    static func start(_ words: String..., environment: [String: String] = [:], stdin: Int32 = -1) throws -> ChildProcess {
        try ChildProcess([path] + words, environment: environment, stdin: stdin)
    }

    /// Runs to its end.
    static func run(_ words: String..., environment: [String: String] = [:]) async throws -> (lines: [String], status: Int32) {
        let words = words
        let (output, status) = try await offPool { try ChildProcess([path] + words, environment: environment).finish() }
        return (output.split(separator: "\n").map(String.init), status)
    }
}
