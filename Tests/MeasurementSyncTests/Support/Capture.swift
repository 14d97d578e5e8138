import CLinux
import Glibc
import LabSupport
import Synchronization

/// What really goes over the loopback interface, with the kernel's own times.
final class Capture: Sendable {
    struct Segment: Sendable {
        let at: Int64
        let isToServer: Bool
        let payload: Int
    }

    private let process: ChildProcess
    private let seen = Mutex<[Segment]>([])

    init(port: UInt16) throws {
        process = try ChildProcess(["/usr/bin/python3", Lab.path("capture"), "\(port)"], merged: true)
        guard let first = process.readLine(), first == "ready" else { throw LabError("no capture: run the tests with `make test`") }
        LabThread.start { [process, seen = Unowned(self)] in
            while let line = process.readLine() {
                let words = line.split(separator: " ")
                guard words.count == 3, let at = Int64(words[0]), let payload = Int(words[2]) else { continue }
                seen.object?.seen.withLock { $0.append(Segment(at: at, isToServer: words[1] == "to", payload: payload)) }
            }
        }
    }

    private struct Unowned: Sendable {
        weak let object: Capture?
        init(_ object: Capture) { self.object = object }
    }

    deinit { stop() }

    func stop() { process.signal(SIGKILL) }

    var segments: [Segment] { seen.withLock { $0 } }

    /// Segments with payload to the server in a span of time.
    func flowing(from start: Int64, to end: Int64) -> [Segment] {
        segments.filter { $0.isToServer && $0.payload > 0 && (start...end).contains($0.at) }
    }
}

/// A process in which a test runs.
final class TestingProcess: Sendable {
    let process: ChildProcess
    private let input: Int32

    init(_ state: String) throws {
        var ends: [Int32] = [0, 0]
        guard clinux_pipe(&ends) == 0 else { throw LabError("no pipe") }
        input = ends[1]
        process = try Worker.start("test", state, stdin: ends[0])
        close(ends[0])
    }

    deinit { close(input) }

    /// - Returns: when it was silent, by the wall clock.
    func begin() async throws -> Int64 { try await step("silent") }
    func end() async throws -> Int64 { try await step("ended") }

    private func step(_ word: String) async throws -> Int64 {
        var newline: UInt8 = 0x0A
        _ = write(input, &newline, 1)
        let line = try await offPool { [process] in process.readLine() }
        guard let line, line.hasPrefix(word), let time = Int64(line.dropFirst(word.count + 1)) else {
            throw LabError("the testing process said '\(line ?? "nothing")'")
        }
        return time
    }
}
