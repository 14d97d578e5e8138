import CollectorTestKit
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import CollectorCore

/// one collector in three languages, and what a library can do wrong.
@Suite(.serialized)
struct LanguageTests {
    /// What has to be the same: everything but times.
    private static func essence(_ outcome: ProgramRun.Outcome) -> String {
        var record = outcome.program
        record.rejected["undeclared"] = record.rejected.removeValue(forKey: "undeclared:unheard") ?? record.rejected["undeclared"]
        record.gaps = record.gaps.map { CollectorRecord.Gap(from: .zero, to: $0.to.map { _ in .zero }, reason: $0.reason) }
        let snapshots = outcome.snapshots.map { snapshot in
            snapshot.fields.map { "\($0.name)=\($0.value.json?.text() ?? "")" }.joined(separator: " ")
        }
        return ([record.json.text(pretty: true)] + snapshots).joined(separator: "\n")
    }

    @Test("R-48 The same trace comes out of one collector in Swift, in C and in Python")
    func sameTrace() async throws {
        let folder = try TemporaryFolder()
        let collectors: [any Collector] = [
            Replay(), ProgramCollector(library: try Replay.library(in: folder)), ProgramCollector(program: Replay.program),
        ]
        var traces: [String] = []
        for collector in collectors {
            let outcome = try await ProgramRun.run(collector, until: { $0.values.contains(.integer(99)) })
            #expect(outcome.program.state == .ok)
            #expect(outcome.values.compactMap { $0?.integer } == [1, 2, 3, 3, 9_007_199_254_740_993, 99])
            #expect(outcome.program.withheld == ["place"])
            var rejected = outcome.program.rejected
            // Of a program the undeclared name is not told, because it may be anything; of what is linked in it is.
            rejected["undeclared", default: 0] += rejected.removeValue(forKey: "undeclared:unheard") ?? 0
            #expect(rejected == ["implausible": 3, "undeclared": 1, "empty:label": 1])
            traces.append(Self.essence(outcome))
        }
        #expect(traces[0] == traces[1])
        #expect(traces[0] == traces[2])
    }

    @Test("R-48 A library gets the session's facts, its configuration, and the target's addresses when they are known")
    func facts() async throws {
        let folder = try TemporaryFolder()
        var settings = ProgramCollector.Settings()
        settings.configuration = ["zone": "cpu"]
        let target = SessionTarget(host: "server.example")
        let collector = ProgramCollector(name: "replay", library: try Replay.library("FACTS", in: folder), settings: settings)
        let outcome = try await ProgramRun.run(
            collector, permissions: Permissions(granted: [.wifiIdentity]), target: target,
            until: {
                $0.values.contains(.integer(1)) && (target.value.addresses.isEmpty ? resolve(target) : $0.values.contains(.integer(2)))
            })
        let provenance = outcome.program.provenance
        #expect(provenance["facts"] == "NETWORK/ping server.example 2 cpu unset 1")
        #expect(provenance["configuration"] == "{\"zone\":\"cpu\"}")
        #expect(provenance["target"] == "{\"host\":\"server.example\",\"addresses\":[\"192.0.2.7\"]}")
    }

    @Test("R-49 What a library does wrong is told in one line, and costs its trace at most")
    func defects() async throws {
        let folder = try TemporaryFolder()
        let newer = "the library was built for version 2 of the collector ABI, and this FieldProbe has version 1: build it anew"
        let refuses = "the library cannot work with version 1 of the collector ABI, which this FieldProbe has"
        let hidden =
            "the library does not export fieldprobe_collector_entry(): it is no FieldProbe collector, or hides its symbols"
        let expected: [(String, String, String)] = [
            ("SEGFAULT", "crashed", "it was ended by signal 11 (SIGSEGV) while the test ran"), ("VERSION", "protocol_version", newer),
            ("REFUSES", "protocol_version", refuses), ("HIDDEN", "no_entry", hidden),
            ("FAILS", "no_sensor", "the sensor is broken: replace it"),
        ]
        for (defect, reason, detail) in expected {
            let collector = ProgramCollector(name: "replay", library: try Replay.library(defect, in: folder))
            let outcome = try await ProgramRun.run(collector, until: { $0.hasReturned })
            #expect(outcome.program.state == .failed)
            #expect(outcome.program.reason == reason)
            #expect(outcome.program.detail == detail)
            #expect(outcome.isOtherUnharmed)
        }
        let prints = try await ProgramRun.run(
            ProgramCollector(library: try Replay.library("PRINTS", in: folder)), until: { $0.values.contains(.integer(99)) })
        #expect(prints.program.state == .ok && prints.program.rejected["not_json"] == nil)
        // SIGTERM ends what does not heed the stop.
        let deaf = try await ProgramRun.run(ProgramCollector(library: try Replay.library("DEAF", in: folder)))
        #expect(deaf.program.state == .ok)
        let text = try folder.write("text.so", String(repeating: "no library\n", count: 1000))
        for (path, words) in [(text, "invalid ELF header"), ("/no/such.so", "No such file or directory")] {
            let outcome = try await ProgramRun.run(ProgramCollector(library: path), until: { $0.hasReturned })
            #expect(outcome.program.reason == "cannot_load")
            #expect(outcome.program.detail?.contains(words) == true)
        }
    }
}

/// Gives the target its address, and says that there is something to wait for.
private func resolve(_ target: SessionTarget) -> Bool {
    target.resolve(to: [IPAddress("192.0.2.7")!], at: .now())
    return false
}
