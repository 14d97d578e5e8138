internal import CLinux
internal import Glibc
internal import MeasurementModel

/// A lab that is told what to do line by line, and says "done" after each: a daemon of the outside world and what is around it.
public final class ScriptedLab: Sendable {
    private let child: ChildProcess
    private let input: Int32
    /// What the lab says of itself when it is ready, such as the address of its bus.
    public let words: [String]

    /// Starts a lab of Tests/Labs in the calling thread's network namespace, and waits until it says "ready".
    ///
    /// - Throws: ``LabError`` when it does not.
    public init(_ name: String, _ arguments: String...) throws {
        var pipes: [Int32] = [0, 0]
        let made = clinux_pipe(&pipes)
        guard made == 0 else { throw SystemError(errno: -made, call: "pipe2") }
        child = try ChildProcess([Lab.path(name)] + arguments, stdin: pipes[0])
        close(pipes[0])
        input = pipes[1]
        words = (child.readLine() ?? "").split(separator: " ").map(String.init)
        guard words.first == "ready" else {
            close(input)
            throw LabError("the lab \(name) did not get ready, its last status is \(child.wait()): run `make test`, which prepares it")
        }
    }

    /// Has it do something, and waits until that is done.
    public func say(_ line: String) throws {
        let octets = Array((line + "\n").utf8)
        guard write(input, octets, octets.count) == octets.count, child.readLine() == "done" else {
            throw LabError("the lab did not do: \(line)")
        }
    }

    /// Ends the lab and what it has started.
    public func end() {
        close(input)
        child.wait()
    }
}
