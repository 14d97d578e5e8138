import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync

/// R-47 with real processes and SIGKILL: nothing acknowledged is lost, nothing is stored twice, the queue always starts.
@Suite(.serialized) struct KillTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    /// Two processes queue and send on one folder, and each is killed at a random moment; 1,000 times.
    @Test func killedAtRandom() async throws {
        let server = try RecordingServer { _, number in
            // Now and then the line is cut, with the report stored or not.
            number % 13 == 0 ? .storesAndLeaves : number % 17 == 0 ? .leaves : .stores
        }
        defer { server.stop() }
        let rounds = 500
        // In memory: a kill takes nothing from a page cache, and the disk is not what is tested here.
        let state = "/dev/shm/fieldprobe-kill-\(getpid())"
        defer { _ = try? ChildProcess.run("rm", "-rf", state) }
        let port = "\(server.port)"
        let acknowledged = try await offPool {
            var acknowledged: Set<String> = []
            // From before a worker's first system call to the middle of its work, on a machine of any speed.
            let begin = MonotonicInstant.now()
            let first = try Worker.start("both", state, port, "first")
            while let line = first.readLine(), !line.hasPrefix("ok ") {}
            var span = UInt32(clamping: (MonotonicInstant.now() - begin).nanoseconds / 1000 * 2)
            first.signal(SIGKILL)
            acknowledged.insert("first-0")
            first.wait()
            for round in 0..<rounds {
                let workers = try ["x", "y"].map {
                    try Worker.start("both", state, port, "\($0)\(round)", environment: ["QUEUE_RETRY_MS": "5"])
                }
                for (index, worker) in workers.enumerated() {
                    usleep(UInt32.random(in: 0..<(index == 0 ? span : 8_000)))
                    worker.signal(SIGKILL)
                }
                let known = acknowledged.count
                for worker in workers {
                    let (output, status) = worker.finish()
                    if status != 128 + SIGKILL { throw LabError("a worker ended with \(status) by itself: \(output)") }
                    for line in output.split(separator: "\n") {
                        if line.hasPrefix("ok ") { acknowledged.insert(String(line.dropFirst(3))) }
                        if line.hasPrefix("error") { throw LabError(String(line)) }
                    }
                }
                // About every other round gets as far as to its acknowledgement, also when the machine becomes slower or faster.
                span = acknowledged.count > known ? max(span / 10 * 9, 1000) : min(span / 10 * 11 + 10, 10_000_000)
            }
            return acknowledged
        }
        let last = try await Worker.run("upload", state, port, environment: ["QUEUE_DRAIN": "1", "QUEUE_RETRY_MS": "5"])
        #expect(last.lines.last == "drained" && last.status == 0)
        #expect(acknowledged.count > rounds / 4)
        #expect(acknowledged.subtracting(server.stored).isEmpty, "acknowledged, and never arrived")
        #expect(try StateFolder.names(in: state + "/queue").isEmpty)
        #expect(try StateFolder.names(in: state + "/quarantine").isEmpty)
        print("killed \(rounds * 2) times: \(acknowledged.count) acknowledged, \(server.deliveries.count) deliveries")
    }

    private struct Call: Hashable {
        let name: String
        let ordinal: Int
    }

    /// The system calls between the worker's two marks, each with its number among all calls of its name.
    private func trace(_ log: String) throws -> [Call] {
        var counts: [String: Int] = [:]
        var calls: [Call] = []
        var isInside = false
        for line in (TemporaryFolder.read(log) ?? "").split(separator: "\n") {
            // With -f each line begins with the thread's id; everything here happens on the first one.
            let text = line.drop { $0.isNumber || $0 == " " }
            guard let parenthesis = text.firstIndex(of: "("), !text.hasPrefix("+"), !text.hasPrefix("-"), !text.hasPrefix("<") else {
                continue
            }
            let name = String(text[..<parenthesis])
            counts[name, default: 0] += 1
            if text.contains("marker-begin") { isInside = true } else if text.contains("marker-end") { return calls }
            if isInside { calls.append(Call(name: name, ordinal: counts[name]!)) }
        }
        throw LabError("no marks in \(log): is strace there?")
    }

    /// Killed before each single system call of queueing one report, and of dropping another one for it.
    @Test func killedAtEachSystemCall() async throws {
        let environment = ["QUEUE_LIMIT": "1"]
        let state = lab.path + "/state"
        let log = lab.path + "/log"
        func strace(_ words: [String], _ prefix: String) async throws -> [String] {
            let arguments = ["strace", "-o", log] + words + [Worker.path, "enqueue", state, prefix, "1"]
            return try await offPool {
                try ChildProcess(arguments, environment: environment).finish().output.split(separator: "\n").map(String.init)
            }
        }
        #expect(try await Worker.run("enqueue", state, "first", "1", environment: environment).lines == ["ok first-0"])
        #expect(try await strace([], "second") == ["ok second-0"])
        let calls = try trace(log)
        #expect(Set(["openat", "write", "fsync", "rename", "unlink", "flock"]).isSubset(of: calls.map(\.name)))
        var kept = "second-0"
        for (number, call) in calls.enumerated() {
            let id = "k\(number)"
            let lines = try await strace(["-e", "inject=\(call.name):signal=SIGKILL:when=\(call.ordinal)"], id)
            let pending = try FolderStore(StateFolder(state), limit: 1).list().names.map(\.id)
            let wasAcknowledged = lines.contains("ok \(id)-0")
            // The old one, the new one, or for a moment both; never none, and the new one if it was acknowledged.
            let isKept = wasAcknowledged ? pending.contains("\(id)-0") : pending.contains(kept) || pending.contains("\(id)-0")
            #expect(isKept && pending.count <= 2, "before \(call.name) number \(call.ordinal): \(pending), \(lines)")
            // The next process works, and leaves one.
            #expect(try await Worker.run("enqueue", state, "n\(number)", "1", environment: environment).lines == ["ok n\(number)-0"])
            kept = "n\(number)-0"
            #expect(try FolderStore(StateFolder(state), limit: 1).list().names.map(\.id) == [kept])
        }
        _ = try DurableFile.sweep(state + "/queue")
        #expect(try StateFolder.names(in: state + "/queue").count == 1)
        print("killed at each of \(calls.count) system calls: \(calls.map(\.name).joined(separator: " "))")
    }
}
