import CLinux
import Glibc
import LabSupport
import MeasurementModel
import Testing

/// A real server on loopback, with a port and a data folder of its own.
final class ServerProcess: Sendable {
    let folder: TemporaryFolder
    let data: String
    let port: UInt16
    private let process: ChildProcess

    var pid: Int32 { process.pid }

    /// - Parameters:
    ///   - options: of `serve`. What would slow tests down is generous unless they say otherwise.
    ///   - folder: of an earlier process, to go on with its data.
    init(_ options: [String] = [], folder: TemporaryFolder? = nil, data: String? = nil, address: String = "127.0.0.1:0") throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        self.data = data ?? "\(folder.path)/data"
        let generous = [
            "registrations-per-minute", "authentications-per-minute", "authentications-per-client", "uploads-per-minute",
            "logins-per-minute",
        ].filter { name in !options.contains { $0.hasPrefix("--\(name)") } }.map { "--\($0)=1000000" }
        process = try ChildProcess(
            ["sh", "-c", "exec \"$@\" 2>>\(folder.path)/log", "sh", ServerBinary.path, "serve", "--data", self.data, "--listen", address]
                + generous + options, environment: Self.sanitizerOptions(folder))
        guard let line = process.readLine(), let text = line.split(separator: ":").last, let port = UInt16(text) else {
            process.wait()
            throw LabError("the server did not start: \(TemporaryFolder.read("\(folder.path)/log") ?? "")")
        }
        self.port = port
    }

    /// ThreadSanitizer sees no lock in Swift's Mutex: see Tests/Labs/CSanitizer. Its findings are in the log, which ``stop()`` reads.
    private static func sanitizerOptions(_ folder: TemporaryFolder) throws -> [String: String] {
        guard isThreadSanitized else { return ["ASAN_OPTIONS": "detect_leaks=0"] }
        let file = try folder.write("tsan", "race:zYuYTXEfU\n")
        return ["TSAN_OPTIONS": "suppressions=\(file) print_suppressions=0"]
    }

    var log: String { TemporaryFolder.read("\(folder.path)/log") ?? "" }

    func signal(_ number: Int32) { process.signal(number) }

    @discardableResult
    func wait() -> Int32 { process.wait() }

    @discardableResult
    func stop() -> Int32 {
        process.signal(SIGTERM)
        let status = process.wait()
        let log = log
        if log.contains("Sanitizer:") || log.contains("Fatal error") { Issue.record("the server's log: \(log.suffix(6000))") }
        return status
    }

    /// Runs an administration command on this server's data.
    @discardableResult
    func admin(_ words: String..., input: String? = nil, expecting status: Int32 = 0) throws -> String {
        try ServerBinary.run(words + ["--data", data], input: input, expecting: status)
    }

    func adminJSON(_ words: String...) throws -> JSONValue {
        try JSONValue(parsing: ServerBinary.run(words + ["--data", data, "--json"]))
    }

    func key(_ options: String...) throws -> String {
        try ServerBinary.run(["key", "create"] + options + ["--data", data]).trimmed
    }

    /// Changes the database behind the server's back: the way to what only time would bring.
    func sql(_ statement: String) throws {
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=20); c.execute(sys.argv[2]); c.commit()"
        try ChildProcess.run("/usr/bin/python3", "-c", script, "\(data)/fieldprobe.sqlite3", statement)
    }

    /// Runs a server for the time of the body, on a thread that may block.
    static func with<Value: Sendable>(
        _ options: [String] = [], _ body: @escaping @Sendable (ServerProcess) throws -> Value
    ) async throws -> Value {
        try await blocking {
            let server = try ServerProcess(options)
            defer { server.stop() }
            return try body(server)
        }
    }
}

enum ServerBinary {
    static let path = Lab.built("fieldprobe-server")

    @discardableResult
    static func run(_ words: [String], input: String? = nil, expecting status: Int32 = 0) throws -> String {
        var stdin: Int32 = -1
        if let input {
            var ends: [Int32] = [0, 0]
            guard clinux_pipe(&ends) == 0 else { throw LabError("no pipe") }
            _ = input.withCString { write(ends[1], $0, strlen($0)) }
            close(ends[1])
            stdin = ends[0]
        }
        defer { if stdin >= 0 { close(stdin) } }
        let (output, ended) = try ChildProcess([path] + words, merged: true, stdin: stdin).finish()
        guard ended == status else { throw LabError("\(words) ended with \(ended) and not with \(status): \(output)") }
        return output
    }
}

extension String {
    var trimmed: String { String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()) }
}
