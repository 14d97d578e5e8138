import CollectorCore
import CollectorTestKit
import MeasurementModel
import QualityTests
import Synchronization
import Testing

/// R-51: the test as a session of the library: gate, outcome, report, listener.
@Suite struct SessionTests {
    struct ClosedGate: TestGate {
        let refusal: TestRefusal
        func admit(_ kind: TestKind) throws -> TestAdmission { throw refusal }
    }

    /// R-2: building fails before anything is started, and says what to do.
    @Test func aClosedGateRefusesAtBuilding() {
        let kind = TestKind(type: "VIDEO", subject: "stream")
        for refusal in [TestRefusal.notRegistered, .confirmationExpired, .forbidden(kind)] {
            #expect(throws: refusal) {
                try QualityTest(type: "VIDEO", subject: "stream", gate: ClosedGate(refusal: refusal), collectors: [CountingCollector()])
            }
        }
        let message = TestRefusal.forbidden(kind).message
        #expect(message.contains("VIDEO") && message.contains("stream"))
        #expect(TestRefusal.notRegistered.message.contains("register it"))
    }

    final class SwitchedGate: TestGate {
        let isOpen = Mutex(true)
        func admit(_ kind: TestKind) throws -> TestAdmission {
            guard isOpen.withLock({ $0 }) else { throw TestRefusal.confirmationExpired }
            return TestAdmission(client: Report.Client(uuid: "u-1", label: "van", tags: ["a"]), clockOffset: .milliseconds(1500))
        }
    }

    /// R-2: what ran out between building and running is noticed.
    @Test func theGateIsAskedAgainAtTheStart() async throws {
        let gate = SwitchedGate()
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: gate)
        gate.isOpen.withLock { $0 = false }
        await #expect(throws: TestRefusal.confirmationExpired) { try await test.run { _ in 1 } }
    }

    /// R-1: any pair is legal, an empty word is not.
    @Test func kinds() throws {
        #expect(try QualityTest(type: "ANY", subject: "thing at all", gate: OpenGate()).kind.description == "ANY/thing at all")
        #expect(throws: TestRefusal.self) { try QualityTest(type: "", subject: "x", gate: OpenGate()) }
        #expect(throws: TestRefusal.self) { try QualityTest(type: "x", subject: "", gate: OpenGate()) }
    }

    @Test func aTestRunsOnce() async throws {
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate())
        _ = try await test.run { _ in 1 }
        await #expect(throws: TestRefusal.self) { try await test.run { _ in 1 } }
    }

    struct Broken: Error, CustomStringConvertible { let description = "the modem is on fire" }

    @Test func aMeasurementThatThrowsHasAReport() async throws {
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate(), collectors: [CountingCollector()])
        let report = try await test.run { _ -> Int in throw Broken() }
        #expect(report.finishedReason == .failed)
        #expect(report.result?["error"]?.string == "the modem is on fire")
        #expect(report.traces.first?.snapshots.isEmpty == false)
    }

    @Test func aCancelledTestHasAReportAndItsCollectorsHaveTime() async throws {
        let release = Release()
        let test = try QualityTest(
            type: "NETWORK", subject: "ping", gate: OpenGate(),
            collectors: [CountingCollector(), HostileCollector(way: .lingers, release: release)])
        let task = Task {
            try await test.run { _ in
                try await Task.sleep(for: .seconds(600))
                return 1
            }
        }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let report = try await task.value
        #expect(report.finishedReason == .aborted)
        #expect(report.traces.first?.snapshots.isEmpty == false)
        #expect(report.collectors.map(\.state) == [.ok, .ok])
    }

    @Test func theCompletionTwin() async throws {
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate())
        let report = try await withCheckedThrowingContinuation { continuation in
            test.run({ _ in ["rtt": 1.5] }, completion: { continuation.resume(with: $0) })
        }
        #expect(report.result?.text() == #"{"rtt":1.5}"#)
        let again = await withCheckedContinuation { continuation in
            test.run({ _ in 1 }, completion: { continuation.resume(returning: $0) })
        }
        #expect(throws: TestRefusal.self) { try again.get() }
        let long = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate())
        let aborted = try await withCheckedThrowingContinuation { continuation in
            let running = long.run(
                { _ in
                    try await Task.sleep(for: .seconds(600))
                    return 1
                }, completion: { continuation.resume(with: $0) })
            running.cancel()
        }
        #expect(aborted.finishedReason == .aborted)
    }

    /// Remembers what it is told, in order.
    final class RecordingActivity: TestActivity {
        let told = Mutex<[String]>([])
        func begin(test id: String) async { told.withLock { $0.append("begin \(id)") } }
        func end(test id: String, with report: Report) async { told.withLock { $0.append("end \(id) \(report.json.text())") } }
    }

    /// R-10, R-38, R-40: the activity brackets the test, and the listener gets the very report, after the activity did.
    @Test func activityAndListener() async throws {
        let activity = RecordingActivity()
        var settings = QualityTest.Settings()
        settings.activity = activity
        settings.listener = { report in activity.told.withLock { $0.append("heard \(report.json.text())") } }
        let test = try QualityTest(
            type: "NETWORK", subject: "ping", gate: SwitchedGate(), collectors: [CountingCollector()], settings: settings)
        let report = try await test.run { session in
            activity.told.withLock { $0.append("measure") }
            return ["id": session.id]
        }
        let told = activity.told.withLock { $0 }
        let text = report.json.text()
        #expect(told == ["begin \(report.id)", "measure", "end \(report.id) \(text)", "heard \(text)"])
        #expect(report.result?["id"]?.string == report.id)
    }

    /// R-25: without permission a declared field stays out, and the report says that it was withheld.
    @Test func permissionsAreEnforced() async throws {
        struct Locator: Collector {
            let descriptor = CollectorDescriptor(
                name: "locator", version: "1", trace: "locator_trace",
                fields: [
                    .number("latitude", privacy: .preciseLocation, permission: .preciseLocation, about: "Latitude"),
                    .bool("moving", privacy: .otherDiagnosticData, about: "Whether it moves"),
                ])
            func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
                trace.record(["latitude": .number(51.4769), "moving": .bool(true)])
            }
        }
        let off = try await QualityTest(type: "N", subject: "p", gate: OpenGate(), collectors: [Locator()]).run { _ in 1 }
        #expect(!off.json.text().contains("51.4769"))
        #expect(off.traces[0].snapshots.count == 1)
        #expect(off.collectors[0].withheld == ["latitude"])
        #expect(off.json["permissions"]?["precise_location"]?.bool == false)
        let granted = Permissions.none.granting([.preciseLocation], for: Permissions.Purpose(key: "drive", text: "By place."))
        let on = try await QualityTest(type: "N", subject: "p", gate: OpenGate(), collectors: [Locator()], permissions: granted).run { _ in
            1
        }
        #expect(on.traces[0].snapshots.first?["latitude"] == .number(51.4769))
        #expect(on.json["permissions"]?["purpose"]?["key"]?.string == "drive")
    }

    /// R-31: no test runs longer than the grant allows, and none is cut off before.
    @Test func theGrantsEndEndsTheTest() async throws {
        struct ShortGate: TestGate {
            var left: Duration
            func admit(_ kind: TestKind) throws -> TestAdmission { TestAdmission(left: left) }
        }
        let cut = try QualityTest(type: "T", subject: "S", gate: ShortGate(left: .milliseconds(100)))
        let begin = MonotonicInstant.now()
        let report = try await cut.run { session in
            try await session.withinGrant {
                try await Task.sleep(for: .seconds(600)); return 1
            }
        }
        #expect(report.finishedReason == .aborted)
        #expect(MonotonicInstant.now() - begin < .seconds(60))
        let command = CommandMeasurement(["sleep", "600"])
        let killed = try QualityTest(type: "T", subject: "S", gate: ShortGate(left: .milliseconds(100)))
        #expect(try await killed.run { session in try await session.withinGrant { try await command.run() } }.finishedReason == .aborted)
        // One that goes on by itself is at least not taken for a test.
        let over = try QualityTest(type: "T", subject: "S", gate: ShortGate(left: .milliseconds(20)))
        #expect(
            try await over.run { _ in
                try await Task.sleep(for: .milliseconds(60)); return 1
            }.finishedReason == .aborted)
        let enough = try QualityTest(type: "T", subject: "S", gate: ShortGate(left: .seconds(600)))
        #expect(try await enough.run { session in try await session.withinGrant { 7 } }.finishedReason == .completed)
    }
}
