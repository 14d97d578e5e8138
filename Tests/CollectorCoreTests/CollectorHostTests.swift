import CollectorTestKit
import Glibc
import MeasurementModel
import ProbeLog
import Synchronization
import Testing

@testable import CollectorCore

/// A collector whose behaviour a test writes.
private struct Scripted: Collector {
    var name = "scripted"
    var trace = "scripted_trace"
    var requires: [Permission] = []
    var fields = [FieldDeclaration.integer("value", privacy: .otherDiagnosticData, about: "A value")]
    var body: @Sendable (any TraceWriter, CollectionSession) async throws -> Void

    var descriptor: CollectorDescriptor {
        CollectorDescriptor(name: name, version: "2.1", trace: trace, fields: fields, requires: requires)
    }

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws { try await body(trace, session) }
}

/// Something that is set once, for closures to share.
private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// The host: starts, contains, ends.
struct CollectorHostTests {
    private static let kind = TestKind(type: "NETWORK", subject: "ping")

    private static func run(
        _ collectors: [any Collector], permissions: Permissions = .none, for duration: Duration = .milliseconds(50),
        stopDeadline: Duration = .milliseconds(300)
    ) async throws -> CollectorRun.Outcome {
        var settings = CollectorHost.Settings()
        settings.stopDeadline = stopDeadline
        let run = CollectorHost(collectors: collectors, settings: settings).start(kind: kind, permissions: permissions)
        try await Task.sleep(for: duration)
        return await run.finish()
    }

    private static let good = Scripted(name: "good", trace: "good_trace") { trace, session in
        trace.record(["value": .integer(1)])
        while !session.wait().isCancelled {}
    }

    @Test("R-3 R-5 A collector runs for as long as the test, on its own thread, and its trace is in the outcome")
    func plain() async throws {
        let thread = Mutex<[pthread_t]>([])
        let outcome = try await Self.run([
            Self.good,
            Scripted { trace, session in
                thread.withLock { $0.append(pthread_self()) }
                await Task.yield()
                thread.withLock { $0.append(pthread_self()) }
                try await Task.sleep(for: .milliseconds(1))
                thread.withLock { $0.append(pthread_self()) }
                trace.record(["value": .integer(7)])
                try await Task.sleep(for: .seconds(60))
            },
        ])
        #expect(outcome.traces.map(\.key) == ["good_trace", "scripted_trace"])
        #expect(outcome.traces.map { $0.snapshots.map { $0["value"] } } == [[.integer(1)], [.integer(7)]])
        #expect(outcome.records.map(\.state) == [.ok, .ok])
        #expect(outcome.records[1].version == "2.1")
        #expect(Set(thread.withLock { $0 }).count == 1)
    }

    @Test("R-4 A collector that throws is a line in the record and nothing else")
    func throwing() async throws {
        struct Broken: Error {}
        let outcome = try await Self.run([
            Scripted { trace, _ in
                trace.record(["value": .integer(1)])
                throw Broken()
            }, Self.good,
        ])
        #expect(outcome.records[0].state == .failed)
        #expect(outcome.records[0].reason == "error")
        #expect(outcome.records[0].detail == "Broken()")
        // What it had recorded is kept.
        #expect(outcome.traces[0].snapshots.count == 1)
        #expect(outcome.records[1].state == .ok)
    }

    @Test("R-4 P99 Collectors that never end are given up together after one deadline")
    func stuck() async throws {
        let release = Flag()
        let blocking = Scripted(name: "blocking", trace: "blocking_trace") { trace, _ in
            trace.record(["value": .integer(1)])
            while !release.isSet { usleep(1000) }
            trace.record(["value": .integer(2)])
        }
        let waiting = Scripted(name: "waiting", trace: "waiting_trace") { _, _ in
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                Task {
                    while !release.isSet { try? await Task.sleep(for: .milliseconds(5)) }
                    continuation.resume()
                }
            }
        }
        let started = ContinuousClock.now
        let outcome = try await Self.run([blocking, waiting, Self.good])
        // Far from the minutes that waiting for them one after the other, or for ever, would take.
        #expect(ContinuousClock.now - started < .seconds(30))
        #expect(outcome.records.map(\.state) == [.stuck, .stuck, .ok])
        #expect(outcome.records[0].reason == "did_not_stop")
        #expect(outcome.records.map { $0.gaps.map(\.reason) } == [["hung"], ["hung"], []])
        #expect(outcome.traces.map { $0.snapshots.count } == [1, 0, 1])
        release.set()
    }

    @Test("R-4 A flood of a million records costs neither the test nor the other trace")
    func flood() async throws {
        let isFlooded = Flag()
        let flooding = Scripted { trace, _ in
            for number in 0..<1_000_000 {
                trace.record(["value": .integer(number)])
                if number == 5000 { isFlooded.set() }
            }
        }
        var settings = CollectorHost.Settings()
        settings.stopDeadline = .seconds(30)
        // It stands still, so that the budget is the burst and not a matter of how fast this machine is.
        settings.clock = ManualClock()
        let run = CollectorHost(collectors: [flooding, Self.good], settings: settings).start(kind: Self.kind)
        while !isFlooded.isSet { try await Task.sleep(for: .milliseconds(5)) }
        let outcome = await run.finish()
        #expect(outcome.records[0].state == .ok)
        #expect(outcome.records[0].recorded == Int(settings.limits.burst))
        #expect(outcome.records[0].rejected["flood"] ?? 0 >= 3000)
        #expect(outcome.records[0].gaps.contains { $0.reason == "flood" })
        #expect(outcome.records[1].state == .ok)
    }

    /// A late collector whose connection a test writes.
    private struct Late: LateCollector {
        let descriptor = CollectorDescriptor(nameOnly: "late")
        var connection: @Sendable ((any Collector) async throws -> Void) async throws -> Void

        func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
            try await connection(use)
        }
    }

    @Test("R-48 A late collector records under what it declared once it was asked, and its record tells why when it could not be asked")
    func late() async throws {
        let real = Scripted(name: "real", trace: "real_trace") { trace, session in
            trace.record(["value": .integer(3)])
            while !session.wait().isCancelled {}
        }
        let failing = Late { _ in throw CollectorFailure("not_found", "there is no such program") }
        let giving = Late { use in
            try await use(real)
            throw CollectorFailure("killed", "had to be killed", state: .stuck)
        }
        let tired = Late { _ in }
        let outcome = try await Self.run([failing, giving, tired, Self.good])
        #expect(outcome.traces.map(\.key) == ["real_trace", "good_trace"])
        #expect(outcome.traces[0].snapshots.map { $0["value"] } == [.integer(3)])
        #expect(outcome.records.map(\.name) == ["late", "real", "late", "good"])
        #expect(outcome.records.map(\.state) == [.failed, .stuck, .unavailable, .ok])
        #expect(outcome.records.map(\.reason) == ["not_found", "killed", "not_connected", nil])
        #expect(outcome.records[0].detail == "there is no such program")
    }

    @Test("R-25 Without a permission that it needs a collector is not even started")
    func denied() async throws {
        let wasStarted = Mutex(false)
        let collector = Scripted(requires: [.preciseLocation]) { trace, _ in
            wasStarted.withLock { $0 = true }
            trace.record(["value": .integer(1)])
        }
        let without = try await Self.run([collector])
        #expect(without.records[0].state == .denied && without.records[0].reason == "no_permission")
        #expect(without.traces[0].snapshots.isEmpty)
        #expect(!wasStarted.withLock { $0 })
        let with = try await Self.run([collector], permissions: Permissions(granted: [.preciseLocation]))
        #expect(with.records[0].state == .ok && with.traces[0].snapshots.count == 1)
    }

    @Test("Two collectors of one trace: one has it, the other is told, and the report has the key once")
    func sameTrace() async throws {
        let outcome = try await Self.run([Self.good, Self.good])
        #expect(outcome.traces.count == 1)
        #expect(Set(outcome.records.map(\.state)) == [.ok, .failed])
        #expect(outcome.records.contains { $0.reason == "trace_taken" })
    }

    @Test(
        "R-26 A bad declaration is refused with its reason",
        arguments: [
            (Scripted(name: "Bad Name") { _, _ in }, "name"), (Scripted(trace: "x") { _, _ in }, "trace key"),
            (Scripted(fields: []) { _, _ in }, "no field"),
            (Scripted(fields: [.bool("client_time", privacy: .otherDiagnosticData, about: "-")]) { _, _ in }, "recorder"),
            (
                Scripted(fields: [
                    .bool("a", privacy: .otherDiagnosticData, about: "-"), .bool("a", privacy: .otherDiagnosticData, about: "-"),
                ]) { _, _ in }, "twice"
            ),
            (Scripted(fields: [FieldDeclaration("a", .records, privacy: .otherDiagnosticData, about: "-")]) { _, _ in }, "members"),
        ] as [(any Collector, String)])
    func badDeclaration(collector: any Collector, word: String) async throws {
        let outcome = try await Self.run([collector, Self.good])
        #expect(outcome.records[0].state == .failed && outcome.records[0].reason == "bad_declaration")
        #expect(outcome.records[0].detail?.contains(word) == true)
        #expect(outcome.traces.map(\.key) == ["good_trace"])
    }

    @Test("A test that is over at once still has each collector's first snapshot")
    func instant() async throws {
        for _ in 0..<200 {
            let run = CollectorHost(collectors: [Self.good]).start(kind: Self.kind)
            let outcome = await run.finish()
            #expect(outcome.traces[0].snapshots.count == 1)
        }
    }

    @Test("A wait ends with a descriptor, the test's end, the target, or the time")
    func waits() async throws {
        let target = SessionTarget(host: "server.example")
        let seen = Mutex<[String]>([])
        let collector = Scripted { _, session in
            func note(_ text: String) { seen.withLock { $0.append(text) } }
            var wake = session.wait(until: session.clock.now() + .milliseconds(5))
            note("time \(wake.ready.isEmpty && !wake.isCancelled && !wake.hasAttention)")
            var pipes: [Int32] = [0, 0]
            _ = pipe(&pipes)
            write(pipes[1], "x", 1)
            wake = session.wait(readable: [pipes[0]], writable: [pipes[1]])
            note("ready \(wake.ready == [pipes[0], pipes[1]])")
            close(pipes[0])
            close(pipes[1])
            note("target \(session.target.value.addresses.count)")
            while session.target.value.addresses.isEmpty { _ = session.wait() }
            note("target \(session.target.value.addresses.count)")
            wake = session.wait()
            note("end \(wake.isCancelled)")
            wake = session.wait()
            note("again \(wake.isCancelled && wake.hasAttention)")
        }
        let run = CollectorHost(collectors: [collector]).start(kind: Self.kind, target: target)
        while seen.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(2)) }
        target.resolve(to: [IPAddress("192.0.2.1")!], at: .now())
        target.resolve(to: [IPAddress("192.0.2.2")!], at: .now())
        while seen.withLock({ $0.count }) < 4 { try await Task.sleep(for: .milliseconds(2)) }
        _ = await run.finish()
        #expect(seen.withLock { $0 } == ["time true", "ready true", "target 0", "target 1", "end true", "again true"])
        #expect(target.value.addresses == [IPAddress("192.0.2.1")!])
    }

    @Test("R-27 The privacy manifest says what is declared, and what is allowed now")
    func manifest() throws {
        let descriptor = CollectorDescriptor(
            name: "sample", version: "1", trace: "sample_trace",
            fields: [.text("ssid", privacy: .connectionContext, permission: .wifiIdentity, about: "Name")])
        let manifest = PrivacyManifest(collectors: [descriptor], permissions: .none, destination: "https://server.example/client_api/v1")
            .json
        #expect(manifest["used_for_tracking"] == .bool(false) && manifest["linked_to_client"] == .bool(true))
        #expect(manifest["sent_to"]?.text() == #"["https://server.example/client_api/v1"]"#)
        let field = manifest["collectors"]?[0]?["fields"]?[0]
        #expect(field?["class"]?.string == "connection_and_measurement_context")
        #expect(field?["permission"]?.string == "wifi_identity" && field?["allowed_now"]?.bool == false)
        #expect(manifest["report"]?.array?.contains { $0["class"]?.string == "device_identifier" } == true)
        #expect(manifest["purposes"]?.array?.isEmpty == true)
        let names = PrivacyManifest.reportFields.map(\.name)
        #expect(Set(names) == Report.reservedKeys && names.count == Report.reservedKeys.count)
    }
}
