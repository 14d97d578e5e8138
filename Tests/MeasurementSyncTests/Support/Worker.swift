import Glibc
import LabSupport

/// The helper process of Tests/Labs/QueueWorker.
enum Worker {
    static let path = Lab.built("QueueWorker")

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
