import CollectorCore
import CollectorTestKit
import Glibc
import LabSupport
import MeasurementModel
import QualityTests
import Synchronization
import Testing

/// R-4, P99: a collector that hangs, fails or floods costs neither the test nor the other traces, and the report tells.
@Suite(.serialized) struct ContainmentTests {
    private func run(_ way: HostileCollector.Way) async throws -> (report: Report, took: Duration) {
        let release = Release()
        defer { release.now() }
        var settings = QualityTest.Settings()
        settings.collectors.stopDeadline = .milliseconds(400)
        let seen = Mutex(0)
        settings.collectors.observer = { event in
            if event.trace == "counting_trace", case .snapshot = event.kind { seen.withLock { $0 += 1 } }
        }
        let test = try QualityTest(
            type: "NETWORK", subject: "sleep", gate: OpenGate(),
            collectors: [HostileCollector(way: way, release: release), CountingCollector()], settings: settings)
        let begin = MonotonicInstant.now()
        let report = try await test.run { _ in
            // The other trace goes on beside the hostile one, however busy this machine is.
            repeat {
                try await Task.sleep(for: .milliseconds(150))
            } while seen.withLock { $0 } < 3 || (way == .floods && !release.sawRefusal.withLock { $0 })
            return ["measured": 42]
        }
        return (report, MonotonicInstant.now() - begin)
    }

    @Test(arguments: HostileCollector.Way.allCases)
    func everyWayToMisbehave(_ way: HostileCollector.Way) async throws {
        let (report, took) = try await run(way)
        #expect(report.finishedReason == .completed)
        #expect(report.result?.text() == #"{"measured":42}"#)
        // The end is taken before the collectors are stopped, so that none of their time is in it.
        #expect(report.duration >= .milliseconds(140))
        #expect(report.duration <= took)
        #expect(took < .seconds(100))
        let counting = try #require(report.traces.first { $0.key == "counting_trace" })
        #expect(counting.snapshots.count >= 3)
        #expect(report.collectors.first { $0.name == "counting" }?.state == .ok)

        let record = try #require(report.collectors.first)
        let (state, reason) = Self.expected(way)
        #expect(record.state == state)
        #expect(record.reason == reason)
        // R-5: a collector that has a legal trace key has an array, if only an empty one.
        let hasTrace = report.traces.contains { $0.key == "hostile_trace" }
        #expect(hasTrace == ![.hangsInDescriptor, .declaresNothing, .badTraceKey].contains(way))
        #expect(report.json["result"] == report.result)
        #expect(!report.json.text().contains("planted"))
    }

    private static func expected(_ way: HostileCollector.Way) -> (CollectorRecord.State, String?) {
        switch way {
        case .blocks, .awaits, .spins: (.stuck, "did_not_stop")
        case .hangsInDescriptor: (.stuck, "did_not_describe_itself")
        case .throwsAtOnce, .throwsLater: (.failed, "error")
        case .declaresNothing, .badTraceKey: (.failed, "bad_declaration")
        case .floods, .undeclaredFields, .wrongTypes, .returnsAtOnce, .lingers: (.ok, nil)
        }
    }

    @Test func whatWasRefusedIsCounted() async throws {
        let undeclared = try await run(.undeclaredFields).report.collectors[0]
        #expect(undeclared.rejected == ["undeclared:secret": 1])
        let flood = try await run(.floods).report.collectors[0]
        #expect(flood.rejected["flood"] ?? 0 > 0)
        #expect(flood.gaps.contains { $0.reason == "flood" })
    }

    @Test func allAtOnce() async throws {
        let release = Release()
        defer { release.now() }
        var settings = QualityTest.Settings()
        settings.collectors.stopDeadline = .milliseconds(400)
        let ways: [HostileCollector.Way] = [.blocks, .awaits, .hangsInDescriptor, .throwsAtOnce, .floods]
        let hostile = ways.map { HostileCollector(way: $0, release: release) }
        let test = try QualityTest(
            type: "NETWORK", subject: "sleep", gate: OpenGate(), collectors: hostile + [CountingCollector()], settings: settings)
        let begin = MonotonicInstant.now()
        let report = try await test.run { _ in
            try await Task.sleep(for: .milliseconds(100)); return 1
        }
        #expect(report.finishedReason == .completed)
        // The deadline is one for all together.
        #expect(MonotonicInstant.now() - begin < .seconds(100))
        #expect(report.traces.first { $0.key == "counting_trace" }.map { !$0.snapshots.isEmpty } == true)
        #expect(report.collectors.count == 6)
    }

    /// R-3: between tests nothing of a collector is left.
    @Test func fiveHundredTestsLeaveNothing() async {
        await #expect(processExitsWith: .success) {
            func cycle() async throws {
                let test = try QualityTest(
                    type: "NETWORK", subject: "nothing", gate: OpenGate(), target: "127.0.0.1",
                    collectors: [CountingCollector(), CountingCollector(trace: "second_trace")])
                let report = try await test.run { _ in true }
                #expect(report.traces.count == 2)
                // Cancelled before its first reading, a collector still takes that one.
                #expect(report.traces.allSatisfy { !$0.snapshots.isEmpty })
            }
            for _ in 0..<5 { try await cycle() }
            // The runtime opens descriptors of its own for the first sleep, and lets a finished task's last things go just after its value.
            for _ in 0..<3 { try await Task.sleep(for: .milliseconds(50)) }
            let before = ProcessCounts.now()
            for _ in 0..<500 { try await cycle() }
            usleep(100_000)
            let after = ProcessCounts.now()
            // One left for each test would be a thousand; the runtime, or a sanitizer that starts its symboliser, may open a few.
            #expect(after.descriptors <= before.descriptors + 4)
            #expect(!ProcessCounts.threadNames().contains("collector"))
            // The runtime's own pool may have grown by a few.
            #expect(after.threads < before.threads + 10)
        }
    }
}
