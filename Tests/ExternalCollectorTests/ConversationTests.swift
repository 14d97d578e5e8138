import CollectorTestKit
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

@testable import CollectorCore

/// what is said in both directions, with real programs.
@Suite(.serialized)
struct ConversationTests {
    /// A text that the program told in pieces, because a source has a hundred octets at most.
    private static func told(_ subject: String, in record: CollectorRecord) -> String {
        var text = ""
        for number in 0..<64 {
            guard let part = record.provenance["\(subject).\(number)"] else { break }
            text += part
        }
        return text
    }

    @Test("R-48 The start message has the session's facts, and a name's addresses come later")
    func facts() async throws {
        var settings = ProgramCollector.Settings()
        settings.configuration = ["zone": "cpu \"0\"", "empty": ""]
        let target = SessionTarget(host: "server.example")
        let outcome = try await ProgramRun.run(
            ProgramRun.misbehaving("facts", settings: settings), permissions: Permissions(granted: [.wifiIdentity]), target: target,
            until: { $0.values.contains(.integer(2)) },
            meanwhile: {
                try await Task.sleep(for: .milliseconds(20))
                target.resolve(to: [IPAddress("192.0.2.7")!, IPAddress("2001:db8::7")!], at: .now())
            })
        let record = outcome.program
        #expect(record.state == .ok)
        let start = try JSONValue(parsing: Self.told("start", in: record))
        #expect(start["type"]?.string == "NETWORK")
        #expect(start["subject"]?.string == "ping")
        #expect(start["target"]?["host"]?.string == "server.example")
        #expect(start["permissions"] == .object(["precise_location": .bool(false), "wifi_identity": .bool(true)]))
        #expect(start["configuration"] == .object(["empty": .string(""), "zone": .string("cpu \"0\"")]))
        let startedAt = try #require(start["started_at"]?.int64)
        #expect(startedAt > 0 && startedAt <= MonotonicInstant.now().nanoseconds)
        // Known from the start where the resolution was quicker than the program.
        let addresses = (start["target"]?["addresses"]?.array ?? []).compactMap(\.string)
        #expect(record.provenance["target"] == "192.0.2.7,2001:db8::7" || addresses == ["192.0.2.7", "2001:db8::7"])
    }

    @Test("R-49 The program runs in its own group, with limits and next to nothing of our surroundings")
    func surroundings() async throws {
        setenv("FIELDPROBE_TEST_SECRET", "x", 1)
        var settings = ProgramCollector.Settings()
        settings.limits.memory = 300 << 20
        if geteuid() == 0 { settings.user = "nobody" }
        // Where everybody may go: the sources may lie in a folder that only their owner may enter.
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        try ChildProcess.run("cp", ProgramRun.misbehave, "\(folder.path)/misbehave")
        let collector = ProgramCollector(name: "misbehave", program: "\(folder.path)/misbehave", arguments: ["facts"], settings: settings)
        let record = try await ProgramRun.run(collector).program
        // Python adds its own.
        let environment = Self.told("environment", in: record).split(separator: ",").filter { !$0.hasPrefix("LC_") }
        #expect(environment == ["FIELDPROBE_PROTOCOL", "LANG", "PATH"])
        #expect(Self.told("folder", in: record) == "/")
        #expect(Self.told("group", in: record) == "True", "a session of its own")
        #expect(Self.told("terminal", in: record) == "False")
        // The last one is the listing's own.
        #expect(Self.told("descriptors", in: record) == "0,1,2,3")
        #expect(Self.told("memory", in: record) == "\(300 << 20)")
        #expect(Self.told("privileges", in: record) == "1")
        #expect(Self.told("score", in: record) == "1000")
        if geteuid() == 0 {
            let nobody = getpwnam("nobody")!.pointee
            #expect(Self.told("user", in: record) == "\(nobody.pw_uid)")
            #expect(Self.told("groups", in: record) == "\(nobody.pw_gid)")
        }
        // Python ignores SIGPIPE (13) and SIGXFSZ (25) itself; what the C library keeps for itself (from 32) is its own matter.
        let ignored = UInt64(Self.told("ignored", in: record), radix: 16)
        #expect(ignored.map { $0 & 0x7FFF_FFFF } == 0x0100_1000)
    }

    @Test("R-8 R-26 What is no value, not declared, not permitted or no message is counted and left out, and the rest is taken")
    func rubbish() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("not-json"), until: { $0.values.contains(.integer(5)) })
        let record = outcome.program
        #expect(record.state == .ok)
        #expect(outcome.values == [.integer(1), .integer(2), .integer(3), .integer(5)])
        #expect(outcome.snapshots[1]["level"] == .number(4.5))
        #expect(outcome.snapshots[1]["place"] == nil)
        #expect(record.withheld == ["place"])
        let expected = [
            "not_json": 4, "unknown_message": 2, "bad_record": 1, "line_too_long": 1, "undeclared": 1, "type:value": 1,
            "not_finite:level": 1, "bad_gap": 1, "bad_time": 1,
        ]
        // The second descriptor is on its way when the last value has come.
        #expect(record.rejected.filter { $0.key != "second_descriptor" } == expected)
        #expect(!outcome.log.contains("Traceback"))
    }

    @Test("R-48 A line that was not finished is counted when the program ends")
    func halfLine() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("half-lines"), until: { $0.hasReturned })
        #expect(outcome.values == [.integer(1), .integer(2)])
        #expect(outcome.program.rejected == ["half_line": 1])
    }

    /// A budget that a slow machine does not fill again while it reads.
    private static var strict: ProgramCollector.Settings {
        var settings = ProgramCollector.Settings()
        settings.limits.linesPerSecond = 1
        return settings
    }

    /// What a flood may cost: the collector that floods is told as a gap, and the stop is in time.
    private static func expectFlood(_ outcome: ProgramRun.Outcome) {
        #expect(outcome.program.state == .ok)
        #expect(outcome.program.gaps.contains { $0.reason == "flood" })
        #expect(outcome.isOtherUnharmed)
    }

    @Test("R-4 R-49 A flood is a gap, its output is thrown away, and no late value is recorded")
    func floods() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("floods"), until: { $0.gapsBegun.contains("flood") })
        Self.expectFlood(outcome)
        #expect(outcome.program.rejected["flood"] ?? 0 > 0)
        #expect(outcome.program.recorded <= 1600)
        // In order, and without what was thrown away.
        let values = outcome.values.compactMap { $0?.integer }
        #expect(values == values.sorted())
    }

    @Test("R-49 When a flood is over, its gap ends, and the next record counts again")
    func floodEnds() async throws {
        let outcome = try await ProgramRun.run(
            ProgramRun.misbehaving("floods-once", settings: Self.strict), until: { $0.values.contains(.integer(5001)) })
        Self.expectFlood(outcome)
        #expect(outcome.values.last == .integer(5001))
        let flood = try #require(outcome.program.gaps.first { $0.reason == "flood" })
        #expect(flood.to != nil)
        #expect((outcome.program.rejected["flood"] ?? 0) + outcome.program.recorded == 5000)
    }

    @Test("R-8 R-49 The last word of a flood counts: what speaks only of changes is not left with an old value")
    func lastWord() async throws {
        for (mode, last) in [("floods-then-quiet", 5000), ("floods-a-little", 1520)] {
            let outcome = try await ProgramRun.run(
                ProgramRun.misbehaving(mode, settings: Self.strict),
                until: { $0.gapsEnded.contains("flood") && $0.values.contains(.integer(last)) })
            Self.expectFlood(outcome)
            #expect(outcome.values.last == .integer(last))
            #expect((outcome.program.rejected["flood"] ?? 0) + outcome.program.recorded == last)
        }
    }

    @Test(
        "R-8 R-49 The last word of a flood counts also where it is the program's last, and however the pipe cuts it",
        arguments: [(1, 2000), (40, 200)])
    func lastWordAtTheEnd(_ kilobytes: Int, _ count: Int) async throws {
        let outcome = try await ProgramRun.run(
            ProgramRun.misbehaving("floods-and-ends", "\(kilobytes)", "\(count)", settings: Self.strict), until: { $0.hasReturned })
        #expect(outcome.program.state == .ok)
        #expect(outcome.program.gaps.map(\.reason) == ["flood"] && outcome.program.gaps[0].to != nil)
        #expect(outcome.values.last == .integer(Int64(count)))
        #expect((outcome.program.rejected["flood"] ?? 0) + outcome.program.recorded == count)
    }

    @Test("R-49 A flood that begins before the start is a gap from the start on")
    func floodFromTheStart() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("floods-before-start"), until: { $0.gapsBegun.contains("flood") })
        Self.expectFlood(outcome)
    }

    @Test("R-49 Ten gigabytes cost neither memory nor time")
    func tenGigabytes() async throws {
        func resident() -> Int {
            let words = TemporaryFolder.read("/proc/self/statm")?.split(separator: " ") ?? []
            return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4096
        }
        let before = resident()
        let outcome = try await ProgramRun.run(
            ProgramRun.misbehaving("ten-gigabytes"), until: { $0.gapsBegun.contains("flood") },
            meanwhile: { try await Task.sleep(for: .seconds(1)) })
        Self.expectFlood(outcome)
        #expect(resident() - before < 100 << 20)
    }

    @Test("R-49 A gigabyte without a line feed is one refused line, and costs no memory")
    func gigabyte() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("gigabyte"), until: { $0.gapsBegun.contains("flood") })
        Self.expectFlood(outcome)
        #expect(outcome.program.rejected["line_too_long"] == 1)
        #expect(outcome.values == [.integer(1)])
    }

    @Test("R-49 What it complains on standard error goes nowhere while a test runs")
    func complaints() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("complains"), until: { $0.values.contains(.integer(2)) })
        #expect(outcome.program.state == .ok)
        #expect(!outcome.log.contains("complaint"))
    }

    @Test("R-48 Two tests at the same time have a program each")
    func twice() async throws {
        let collector = ProgramRun.misbehaving("facts")
        async let first = ProgramRun.run(collector)
        async let second = ProgramRun.run(collector)
        let (one, other) = try await (first, second)
        #expect(one.program.state == .ok && other.program.state == .ok)
        #expect(one.values != other.values)
    }

    @Test("R-27 Describing asks the program and starts nothing")
    func describe() async throws {
        let descriptor = try await ProgramRun.misbehaving("needs-place").describe()
        #expect(descriptor.name == "misbehave")
        #expect(descriptor.trace == "misbehave_trace")
        #expect(descriptor.requires == [.preciseLocation])
        #expect(descriptor.fields.map(\.name) == ["value", "level", "place"])
        await #expect(throws: CollectorFailure.self) { try await ProgramRun.misbehaving("garbage-first").describe() }
        let failure = await #expect(throws: CollectorFailure.self) { try await ProgramCollector(program: "/no/such").describe() }
        #expect(failure?.detail == "such: there is no such program")
        #expect(failure?.description == "/no/such: there is no such program", "at this machine the path")
    }
}
