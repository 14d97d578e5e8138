import CollectorTestKit
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import CollectorCore

/// whatever a foreign collector does costs its own trace, is told in one line, and leaves nothing behind.
@Suite(.serialized)
struct ContainmentTests {
    /// What a mode does, until when it is watched, and what its line says.
    struct Case: CustomStringConvertible, Sendable {
        var mode: String
        var state: CollectorRecord.State = .failed
        var reason: String?
        var detail: String?
        /// The values that its trace keeps.
        var values: [FieldValue?] = [.integer(1)]
        /// Watched until it has returned, else until it has recorded.
        var endsByItself = true

        var description: String { mode }
    }

    static let cases = [
        Case(mode: "exits", reason: "exited", detail: "it ended with exit status 3 while the test ran"),
        Case(mode: "done", state: .ok),
        Case(mode: "failed", reason: "no_sensor", detail: "the sensor is broken: replace it"),
        Case(
            mode: "aborts", reason: "crashed",
            detail: "it was ended by signal 6 (SIGABRT) while the test ran; each of its processes may have 256 MiB of memory"),
        Case(mode: "segfaults", reason: "crashed", detail: "it was ended by signal 11 (SIGSEGV) while the test ran"),
        // Python's allocation fails, and it ends with a traceback.
        Case(mode: "allocates", reason: "exited", detail: "it ended with exit status 1 while the test ran"),
        Case(mode: "crashes-at-stop", reason: "crashed", endsByItself: false),
        Case(mode: "heedless", state: .ok, endsByItself: false),
        Case(
            mode: "deaf", state: .stuck, reason: "killed",
            detail: "it did not end when it was told to, nor at SIGTERM, and was killed", endsByItself: false),
        Case(mode: "closes-output", state: .ok),
        Case(mode: "ignores-input", state: .ok, endsByItself: false),
        Case(mode: "half-lines", state: .ok, values: [.integer(1), .integer(2)]),
        Case(mode: "exits-early", reason: "exited", detail: "it ended with exit status 3 before it had said what it records", values: []),
        Case(
            mode: "garbage-first", reason: "bad_handshake",
            detail: "its first line is not its descriptor: not JSON at octet 0: a value cannot start with 'h'", values: []),
        Case(
            mode: "gigabyte-first", reason: "bad_handshake",
            detail: "its first line has more than 65536 octets; it has to be its descriptor", values: []),
        Case(
            mode: "bad-field", reason: "bad_declaration",
            detail: "the field 'value' needs 'type': one of bool, integer, number, text, records, and 'float' is none", values: []),
        Case(
            mode: "leaky-field", reason: "bad_declaration",
            detail: "the field 'place' tells where the device is, so it has to name 'permission': 'precise_location'", values: []),
        Case(
            mode: "other-name", reason: "bad_declaration",
            detail: "it calls itself 'somebody-else' and is installed as 'misbehave': give it that name", values: []),
        Case(mode: "needs-place", state: .denied, reason: "no_permission", detail: "needs the permission precise_location", values: []),
    ]

    @Test("R-4 R-49 P104 A collector that ends, crashes or misspeaks costs its own trace at most", arguments: cases)
    func fate(_ example: Case) async throws {
        let mark = "\(example.mode) mark-\(UInt32.random(in: 1...UInt32.max))"
        let words = mark.split(separator: " ").map(String.init)
        let collector = ProgramCollector(name: "misbehave", program: ProgramRun.misbehave, arguments: words)
        let outcome = try await ProgramRun.run(collector, until: { example.endsByItself ? $0.hasReturned : $0.snapshots >= 1 })
        #expect(outcome.isOtherUnharmed)
        #expect(outcome.program.state == example.state)
        #expect(outcome.program.reason == example.reason)
        if let detail = example.detail { #expect(outcome.program.detail == detail) }
        #expect(outcome.values == example.values)
        // After its failure nobody knows what it would have seen, to the test's end.
        if example.state == .failed, example.endsByItself, !example.values.isEmpty {
            #expect(outcome.program.gaps.last?.reason == example.reason && outcome.program.gaps.last?.to != nil)
        } else {
            #expect(outcome.program.gaps.isEmpty)
        }
        #expect(ProcessTable.processes(with: mark) == [])
    }

    @Test("R-49 P105 A collector of another version of the protocol is refused in words that say what to install", arguments: [0, 2, 7])
    func version(_ version: Int) async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("version", "\(version)"), until: { $0.hasReturned })
        #expect(outcome.program.reason == "protocol_version")
        let advice = version > 1 ? "a newer FieldProbe, or an older collector" : "a newer collector"
        let expected =
            "the collector speaks version \(version) of the collector protocol, and this FieldProbe speaks version 1: install \(advice)"
        #expect(outcome.program.detail == expected)
        #expect(outcome.isOtherUnharmed)
    }

    @Test("R-49 P102 What cannot be started is a line of its own, and the test does not notice")
    func cannotStart() async throws {
        let folder = try TemporaryFolder()
        let plain = try folder.write("plain", "#!/bin/sh\n")
        let orphan = try folder.write("orphan", "#!/no/such/interpreter\n")
        let foreign = try folder.write("foreign", "\u{7F}ELF this is no program of this machine")
        let empty = try folder.write("text", "echo hello\n")
        for file in [orphan, foreign, empty] { chmod(file, 0o755) }
        // The path may name a person: the report has the file only.
        func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
        let expected: [(String, String, String)] = [
            ("\(folder.path)/missing", "not_found", "missing: there is no such program"),
            (plain, "not_runnable", "plain is not executable: chmod +x it, and its folders too"),
            (folder.path, "not_runnable", "\(name(folder.path)) is not executable: chmod +x it, and its folders too"),
            (orphan, "not_runnable", "orphan: the interpreter that its first line names does not exist"),
            (
                foreign, "not_runnable",
                "foreign is no program for this machine: built for another architecture, or a script without a '#!' line"
            ),
            (
                empty, "not_runnable",
                "text is no program for this machine: built for another architecture, or a script without a '#!' line"
            ),
        ]
        for (program, reason, detail) in expected {
            let outcome = try await ProgramRun.run(ProgramCollector(name: "x", program: program), until: { $0.hasReturned })
            #expect(outcome.program.state == .failed)
            #expect(outcome.program.reason == reason)
            #expect(outcome.program.detail == detail)
            #expect(outcome.isOtherUnharmed)
            #expect(outcome.traces.count == 1)
        }
        var settings = ProgramCollector.Settings()
        settings.user = "no-such-user"
        var outcome = try await ProgramRun.run(ProgramRun.misbehaving("good", settings: settings), until: { $0.hasReturned })
        #expect(outcome.program.reason == "bad_user")
        #expect(outcome.program.detail == "the collector shall run as the user 'no-such-user': there is no such user")
        settings.user = nil
        settings.hostProgram = "/no/such/host"
        outcome = try await ProgramRun.run(ProgramRun.misbehaving("good", settings: settings), until: { $0.hasReturned })
        #expect(outcome.program.reason == "no_host")
    }

    @Test("R-49 P100 A grandchild that holds the pipes is ended with the group, or left to itself, and nobody waits for it")
    func grandchild() async throws {
        for mode in ["grandchild", "grandchild-runs"] {
            let outcome = try await ProgramRun.run(
                ProgramRun.misbehaving(mode), until: { mode == "grandchild" ? $0.hasReturned : $0.snapshots >= 2 })
            #expect(outcome.program.state == .ok)
            let grandchild = try #require(outcome.values.last??.integer)
            // It was init's to reap; a moment may pass.
            for _ in 0..<2000 where ProcessTable.exists(grandchild) { usleep(5000) }
            #expect(!ProcessTable.exists(grandchild))
        }
    }

    @Test("R-49 Computing without end is ended by the limit of processor time")
    func computes() async throws {
        var settings = ProgramCollector.Settings()
        settings.limits.processorBurst = 1
        for mode in ["computes", "computes-in-child"] {
            let outcome = try await ProgramRun.run(ProgramRun.misbehaving(mode, settings: settings), until: { $0.hasReturned })
            #expect(outcome.program.reason == "cpu_limit")
            #expect(outcome.program.detail == "it used more processor time than it may: 1.0 s and 10.0 % of the time, and was ended")
            #expect(outcome.values == [.integer(1)])
        }
    }

    @Test("R-49 One that does not say what it is fails by its deadline, and a short test does not wait for that")
    func silent() async throws {
        var settings = ProgramCollector.Settings()
        settings.limits.handshake = .milliseconds(200)
        var outcome = try await ProgramRun.run(ProgramRun.misbehaving("silent", settings: settings), until: { $0.hasReturned })
        #expect(outcome.program.reason == "handshake_timeout")
        #expect(outcome.program.detail == "it did not say within 0.2 s of its start what it records")
        outcome = try await ProgramRun.run(ProgramRun.misbehaving("silent"), stopDeadline: .seconds(1), until: { _ in true })
        #expect(outcome.program.state == .unavailable)
        #expect(outcome.program.reason == "not_connected")
        #expect(outcome.program.detail == "the test was over before the collector had said what it records")
        #expect(outcome.isOtherUnharmed)
    }

    @Test("R-4 A test that is over at once still gets the first snapshot of a quick collector")
    func shortTest() async throws {
        let outcome = try await ProgramRun.run(ProgramRun.misbehaving("good"), stopDeadline: .seconds(30), until: { _ in true })
        #expect(outcome.program.state == .ok)
        #expect(outcome.values == [.integer(1)])
    }

    @Test("R-3 P101 Two hundred collectors that had to be killed leave no zombie and no descriptor")
    func reaped() async throws {
        let mark = "deaf mark-\(UInt32.random(in: 1...UInt32.max))"
        let words = mark.split(separator: " ").map(String.init)
        func descriptors() -> Int { (0..<4096).count { fcntl($0, F_GETFD) >= 0 } }
        let before = descriptors()
        for _ in 0..<20 {
            var settings = CollectorHost.Settings()
            settings.stopDeadline = .milliseconds(40)
            let collectors = (0..<10).map { _ in ProgramCollector(name: "misbehave", program: ProgramRun.misbehave, arguments: words) }
            let run = CollectorHost(collectors: collectors, settings: settings).start(kind: TestKind(type: "X", subject: "y"))
            let outcome = await run.finish()
            #expect(outcome.records.count == 10)
        }
        // Some had got no further than their start when they were given up: they go within their deadline.
        for _ in 0..<2000 where !ProcessTable.processes(with: mark).isEmpty { usleep(5000) }
        #expect(ProcessTable.processes(with: mark) == [])
        for _ in 0..<2000 where descriptors() > before + 100 { usleep(5000) }
        // Other tests of this process have theirs; two hundred collectors would have left at least six hundred.
        #expect(descriptors() < before + 100)
    }
}
