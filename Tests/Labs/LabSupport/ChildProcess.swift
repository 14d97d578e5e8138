internal import CLinux
internal import Glibc
internal import MeasurementModel

/// A program that a test runs: started in the calling thread's network namespace, and ended by its own id.
public final class ChildProcess: Sendable {
    public let pid: Int32
    private let output: Int32

    /// - Parameter merged: standard error goes where standard output goes.
    public init(_ arguments: [String], environment: [String: String] = [:], merged: Bool = false, stdin: Int32 = -1) throws {
        var pipes: [Int32] = [0, 0]
        let made = clinux_pipe(&pipes)
        guard made == 0 else { throw SystemError(errno: -made, call: "pipe2") }
        var variables: [String] = environment.map { "\($0.key)=\($0.value)" }
        for name in ["PATH", "HOME", "LANG", "TSAN_OPTIONS", "ASAN_OPTIONS"] where environment[name] == nil {
            if let value = getenv(name) { variables.append("\(name)=\(String(cString: value))") }
        }
        var child: pid_t = 0
        let error = withCStrings(arguments) { argv in
            withCStrings(variables) { clinux_spawn(&child, argv, $0, stdin, pipes[1], merged ? pipes[1] : -1) }
        }
        close(pipes[1])
        guard error == 0 else {
            close(pipes[0])
            throw SystemError(errno: -error, call: "run \(arguments[0])")
        }
        pid = child
        output = pipes[0]
    }

    deinit { close(output) }

    /// Everything that the program printed until it ended, and its wait(2) status.
    public func finish() -> (output: String, status: Int32) {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count > 0 { octets += buffer[..<count] } else if count == 0 || errno != EINTR { break }
        }
        return (String(decoding: octets, as: UTF8.self), wait())
    }

    /// What the program prints next; empty at its end.
    public func readAvailable() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(output, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    /// The next line, read octet by octet so that nothing behind it is lost; nil at the end.
    public func readLine() -> String? {
        var line: [UInt8] = []
        var octet: UInt8 = 0
        while read(output, &octet, 1) == 1 {
            if octet == 0x0A { return String(decoding: line, as: UTF8.self) }
            line.append(octet)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    public func signal(_ number: Int32) { kill(pid, number) }

    /// The exit status, or 128 plus the signal.
    @discardableResult
    public func wait() -> Int32 {
        var status: Int32 = 0
        _ = clinux_waitpid(pid, &status, 0)
        return clinux_exited(status) != 0 ? clinux_exit_status(status) : 128 + clinux_term_signal(status)
    }

    /// Runs a program to its end.
    ///
    /// - Throws: ``LabError`` when it does not end with 0.
    @discardableResult
    public static func run(_ arguments: String...) throws -> String { try run(arguments) }

    @discardableResult
    public static func run(_ arguments: [String]) throws -> String {
        let (output, status) = try ChildProcess(arguments, merged: true).finish()
        guard status == 0 else { throw LabError("\(arguments.joined(separator: " ")) ended with \(status): \(output)") }
        return output
    }
}

/// Something that a lab could not set up.
public struct LabError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
