import Glibc
import LabSupport
import MeasurementModel
import QualityTests
import Testing

/// A wrapped command as a measurement: how it ended, and what it printed.
@Suite struct CommandMeasurementTests {
    private func run(
        _ script: String, _ change: (inout CommandMeasurement.Settings) -> Void = { _ in }
    ) async throws -> CommandResult {
        var settings = CommandMeasurement.Settings()
        change(&settings)
        return try await CommandMeasurement(["sh", "-c", script], settings: settings).run()
    }

    @Test(arguments: [0, 1, 42, 255] as [Int32])
    func exitStatus(_ status: Int32) async throws {
        let result = try await run("exit \(status)")
        #expect(result.ending == .exited(status))
        #expect(result.finishedReason == (status == 0 ? .completed : .failed))
        #expect(result.json.text().hasPrefix(#"{"command":"sh","exit_status":\#(status),"duration_ms":"#))
    }

    /// A library that opens without close-on-exec at the wrong moment gives the command nothing.
    @Test func onlyTheNamedDescriptorsAreTheCommands() async throws {
        func openForAll() -> Int32 { dup(0) }
        let (given, other) = (openForAll(), openForAll())
        defer { [given, other].forEach { close($0) } }
        // What a test beside this one opens is none of this one's business.
        func ours(_ result: CommandResult) -> Set<Int32> {
            Set(String(decoding: result.output, as: UTF8.self).split(separator: "\n").compactMap { Int32($0) }).intersection([given, other])
        }
        let named = try await run("ls /proc/$$/fd") { $0.descriptors = [given] }
        #expect(named.ending == .exited(0) && ours(named) == [given])
        #expect(try await ours(run("ls /proc/$$/fd") { $0.descriptors = [] }).isEmpty)
        #expect(try await ours(run("ls /proc/$$/fd") { $0.descriptors = [other, given, other, 2] }) == [given, other])
        #expect(try await ours(run("ls /proc/$$/fd") { $0.descriptors = nil }) == [given, other])
        #expect(try await ours(run("ls /proc/$$/fd")).isEmpty)
    }

    @Test func deathBySignal() async throws {
        let result = try await run("kill -KILL $$")
        #expect(result.ending == .signaled(SIGKILL))
        #expect(result.finishedReason == .failed)
        #expect(result.json["signal"]?.string == "SIGKILL")
        #expect(result.json["signal_number"]?.int64 == 9)
    }

    @Test func jsonStaysJSON() async throws {
        let result = try await run(#"echo '{"rtt": 1.10, "hops": [1,2]}'"#)
        #expect(result.json["output"]?.text() == #"{"rtt":1.10,"hops":[1,2]}"#)
        #expect(result.json["output_text"] == nil)
    }

    @Test func textIsText() async throws {
        let result = try await run(#"printf 'one\ntwo\033[31m\377'; echo oops >&2"#)
        #expect(result.json["output"] == nil)
        #expect(result.json["output_text"]?.string == "one\ntwo\u{1B}[31m\u{FFFD}")
        #expect(result.json["stderr_tail"]?.string == "oops\n")
        #expect(result.outputOctets == 13)
        let none = try await run("true")
        #expect(none.json["output"] == nil && none.json["output_text"] == nil && none.json["stderr_tail"] == nil)
        // Two documents are no document.
        let lines = try await run(#"echo '{}'; echo '{}'"#)
        #expect(lines.json["output_text"]?.string == "{}\n{}\n")
    }

    @Test func outputIsBoundedAndSaysSo() async throws {
        let result = try await run("head -c 3000000 /dev/zero | tr '\\0' 'ä'; seq 100000 >&2") {
            $0.maximumOutput = 1001
            $0.maximumErrorTail = 20
        }
        #expect(result.output.count == 1001)
        #expect(result.outputOctets >= 3_000_000)
        #expect(result.json["output_truncated"]?.bool == true)
        #expect(String(decoding: result.errorTail, as: UTF8.self).hasSuffix("99999\n100000\n"))
        #expect(result.errorTail.count == 20)
        #expect(result.errorOctets == 588_895)
        // A document that is cut is no document.
        let cut = try await run("printf '%s' 123456") { $0.maximumOutput = 3 }
        #expect(cut.json["output_text"]?.string == "123")
    }

    @Test func theWholeOutputIsThereWhenTheCommandHasEnded() async throws {
        for _ in 0..<50 {
            let result = try await run("printf '%60000s' x; printf '%60000s' y >&2")
            #expect(result.outputOctets == 60000)
            #expect(result.errorOctets == 60000)
        }
    }

    @Test(.timeLimit(.minutes(1))) func aGrandchildThatHoldsThePipeHoldsNothingUp() async throws {
        let begin = MonotonicInstant.now()
        let result = try await run("sleep 30 & echo done; exit 3")
        #expect(result.ending == .exited(3))
        #expect(result.json["output_text"]?.string == "done\n")
        #expect(MonotonicInstant.now() - begin < .seconds(10))
        // One that floods the pipe for ever does not either.
        let flood = try await run("yes & echo done; exit 4")
        #expect(flood.ending == .exited(4))
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTestEndsItsCommand() async throws {
        let test = try QualityTest(type: "NETWORK", subject: "sleep", gate: OpenGate())
        let task = Task {
            try await test.run { _ in try await CommandMeasurement(["sh", "-c", "echo began; sleep 60"]).run() }
        }
        try await Task.sleep(for: .milliseconds(150))
        task.cancel()
        let report = try await task.value
        #expect(report.finishedReason == .aborted)
        #expect(report.result?["signal"]?.string == "SIGTERM")

        let stubborn = Task {
            var settings = CommandMeasurement.Settings()
            settings.stopDeadline = .milliseconds(200)
            return try await CommandMeasurement(["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"], settings: settings).run()
        }
        try await Task.sleep(for: .milliseconds(300))
        stubborn.cancel()
        let killed = try await stubborn.value
        #expect(killed.ending == .signaled(SIGKILL))
        #expect(killed.finishedReason == .aborted)
    }

    @Test func whatCannotBeRun() async throws {
        let missing = await #expect(throws: CommandError.self) { try await CommandMeasurement(["/no/such/program"]).run() }
        #expect(missing?.code == .notFound)
        #expect(missing?.description == "'/no/such/program' cannot be run: No such file or directory; check its name and PATH")
        let unnamed = await #expect(throws: CommandError.self) { try await CommandMeasurement(["no-such-program-anywhere"]).run() }
        #expect(unnamed?.code == .notFound)
        let folder = await #expect(throws: CommandError.self) { try await CommandMeasurement(["/etc"]).run() }
        #expect(folder?.code == .notRunnable)
        let none = await #expect(throws: CommandError.self) { try await CommandMeasurement([]).run() }
        #expect(none?.code == .notFound)
    }

    @Test func aCommandThatCannotBeRunIsAFailedTest() async throws {
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate(), collectors: [CountingCollector()])
        let report = try await test.run { _ in try await CommandMeasurement(["/no/such/program"]).run() }
        #expect(report.finishedReason == .failed)
        #expect(report.result?["error"]?.string?.contains("No such file") == true)
    }

    /// Thirty commands that all wait for the last of them to begin: on a pool of two blocked threads they would wait for ever.
    @Test(.timeLimit(.minutes(1))) func manyAtOnceDoNotBlockThePool() async throws {
        let folder = try TemporaryFolder()
        let count = 30
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let script = "touch \(folder.path)/\(index); while [ $(ls \(folder.path) | wc -l) -lt \(count) ]; do sleep 0.2; done"
                group.addTask { _ = try await self.run(script) }
            }
            try await group.waitForAll()
        }
    }

    @Test func commandsLeaveNoDescriptorAndNoThread() async {
        await #expect(processExitsWith: .success) {
            func cycle() async throws {
                _ = try await CommandMeasurement(["true"]).run()
                _ = try? await CommandMeasurement(["/no/such/program"]).run()
            }
            for _ in 0..<3 { try await cycle() }
            // The relay's thread lets its last things go just after it has told the result.
            usleep(100_000)
            let before = ProcessCounts.now()
            for _ in 0..<200 { try await cycle() }
            usleep(100_000)
            #expect(ProcessCounts.now().descriptors <= before.descriptors + 4)
            #expect(!ProcessCounts.threadNames().contains("command"))
        }
    }
}
