import CollectorCore
import CollectorTestKit
import LabSupport
import MeasurementModel
import Testing

extension KitTests {
    /// what conforms.
    @Suite struct ConformingTests {
        /// What a collector without anything special is not asked, and what a sanitizer does not let be asked.
        private static let notAsked: Set<String> =
            isThreadSanitized ? ["silence", "time_stamps", "permissions", "memory"] : ["silence", "time_stamps", "permissions"]

        @Test("R-50 A collector that keeps the contract passes every check, and each result is told as it is known")
        func good() async {
            let told = Shared<[String]>([])
            let verdict = await CollectorConformance(Specimen(), settings: .short()).run { result in
                told.withLock { $0.append(result.name) }
            }
            #expect(verdict.isConforming && verdict.isComplete, "\(verdict)")
            #expect(verdict.checks.map(\.name) == ConformanceCheck.allCases.map(\.rawValue))
            #expect(Set(told.withLock { $0 }) == Set(verdict.checks.map(\.name)))
            #expect(Set(verdict.checks.filter { $0.outcome != .passed }.map(\.name)) == Self.notAsked, "\(verdict.text)")
            #expect(verdict.collector == "specimen")
        }

        @Test("R-50 One that stamps, promises, needs a permission and requires another one passes too")
        func rich() async {
            let collector = Specimen(
                CollectorDescriptor(
                    name: "specimen", version: "1", trace: "specimen_trace",
                    fields: [
                        Specimen.value,
                        .number("latitude", privacy: .preciseLocation, permission: .preciseLocation, about: "Where"),
                    ], requires: [.preciseLocation], maximumSilence: .milliseconds(199))
            ) { trace, session in
                repeat {
                    trace.record(["value": .integer(1), "latitude": .number(48)], at: session.clock.now())
                } while !session.wait(until: session.clock.now() + .milliseconds(1)).isCancelled
            }
            let verdict = await CollectorConformance(collector, settings: .short()).run()
            // A machine that stands still for so long breaks the promise, and not the collector.
            #expect(verdict.failed.allSatisfy { $0.name == "silence" }, "\(verdict)")
            #expect(verdict[.permissions]?.figures == "not started" && verdict[.timeStamps]?.outcome == .passed)
        }

        @Test("R-50 One that sees nothing says why not, and conforms")
        func absent() async {
            let verdict = await CollectorConformance(
                Specimen { trace, session in
                    trace.unavailable(.noHardware, detail: "no thermometer")
                    while !session.wait().isCancelled {}
                }, settings: .short()
            ).run()
            #expect(verdict.isConforming, "\(verdict)")
            #expect(verdict[.records]?.figures == "'unavailable' (no_hardware: no thermometer)")
            #expect(verdict[.values]?.outcome == .notApplicable("it handed over no values"))
        }

        @Test("R-50 One that has said all and returns before the test's end conforms")
        func early() async {
            let verdict = await CollectorConformance(Specimen { trace, _ in trace.record(["value": .integer(1)]) }, settings: .short())
                .run()
            #expect(verdict.isConforming, "\(verdict)")
        }

        @Test("R-25 What is handed over without its permission is noted")
        func withoutPermission() async {
            let field = FieldDeclaration.text("ssid", privacy: .connectionContext, permission: .wifiIdentity, about: "Network")
            let collector = Specimen(
                CollectorDescriptor(name: "specimen", version: "1", trace: "specimen_trace", fields: [Specimen.value, field])
            ) { trace, session in
                trace.record(["value": .integer(1), "ssid": .text("home")])
                while !session.wait().isCancelled {}
            }
            let verdict = await CollectorConformance(collector, settings: .short()).run()
            #expect(verdict.isConforming, "\(verdict)")
            #expect(
                verdict[.permissions]?.outcome
                    == .noted("it hands over 'ssid' without the permission; the recorder drops it"))
        }

        @Test("R-25 One that requires what is not granted is not looked at, and the verdict says so")
        func notGranted() async {
            var settings = CollectorConformance.Settings.short()
            settings.permissions = .none
            let verdict = await CollectorConformance(Specimen(requires: [.preciseLocation]), settings: settings).run()
            let why = "it is not started: 'denied' (no_permission: needs the permission precise_location)"
            #expect(verdict[.startStop]?.outcome == .notApplicable(why), "\(verdict.text)")
        }

        @Test("A verdict whose task was cancelled is not complete, and so not conforming")
        func cancelled() async {
            let task = Task { await CollectorConformance(Specimen(), settings: .short()).run() }
            task.cancel()
            let verdict = await task.value
            #expect(!verdict.isComplete && !verdict.isConforming && verdict.failed.isEmpty)
            #expect(verdict.summary.contains("was not looked at to the end"))
        }

        @Test("The documentation lists every check")
        func documentation() throws {
            let page = try #require(TemporaryFolder.read(Lab.path("../../docs/conformance.md")))
            let names = ConformanceCheck.allCases.map(\.rawValue) + ProgramCheck.allCases.map(\.rawValue)
            for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
        }

        @Test("A verdict as text and as JSON; checks of somebody else's join it")
        func output() {
            let verdict = Verdict(
                collector: "thermal",
                checks: [
                    ConformanceCheckSamples.passed, ConformanceCheckSamples.failed, ConformanceCheckSamples.noted,
                ]
            ).adding([CheckResult(name: "greeting", title: "It greets", outcome: .notApplicable("it is no program"))])
            #expect(
                verdict.text == """
                    pass  start_stop          It starts and stops (slowest 3 ms)
                    FAIL  threads             No thread stays behind
                          problem: 20 more threads
                          remedy: Join them.
                    note  permissions         It goes without
                          seen: hands over 'x'
                          advice: Leave it.
                    n/a   greeting            It greets: it is no program
                    thermal does not conform: 1 passed, 1 failed, 1 noted, 1 not applicable
                    """)
            #expect(
                verdict.description == """
                    thermal does not conform: 1 passed, 1 failed, 1 noted, 1 not applicable
                    FAIL  threads             No thread stays behind
                          problem: 20 more threads
                          remedy: Join them.
                    """)
            let json = verdict.json
            #expect(json["conforming"] == .bool(false) && json["checks"]?.array?.count == 4)
            #expect(json["checks"]?[1]?["problem"]?.string == "20 more threads" && json["checks"]?[1]?["outcome"]?.string == "failed")
            #expect(json["checks"]?[3]?["reason"]?.string == "it is no program" && json["checks"]?[2]?["seen"] != nil)
        }
    }
}

private enum ConformanceCheckSamples {
    static let passed = CheckResult(name: "start_stop", title: "It starts and stops", outcome: .passed, figures: "slowest 3 ms")
    static let failed = CheckResult(
        name: "threads", title: "No thread stays behind", outcome: .failed, problem: "20 more threads", remedy: "Join them.")
    static let noted = CheckResult(
        name: "permissions", title: "It goes without", outcome: .noted("hands over 'x'"), remedy: "Leave it.")
}
