import CollectorCore
import ExternalCollector
import LabSupport
import MeasurementModel
import Synchronization
import Testing

@testable import CollectorTestKit

extension KitTests {
    /// what the kit says of collectors that are programs.
    @Suite struct ProgramKitTests {
        private static func program(_ fault: String) -> ProgramCollector {
            ProgramCollector(program: Lab.path("collectors/unfit"), arguments: [fault])
        }

        /// The protocol's checks only: the contract's have their own tests.
        private static func checks(
            _ collector: ProgramCollector, stopDeadline: Duration, only check: ProgramCheck? = nil
        ) async throws -> [CheckResult] {
            var settings = CollectorConformance.Settings.short(stopDeadline: stopDeadline)
            settings.observation = .milliseconds(800)
            let chosen = settings
            return try await OwnThread.value("checks") {
                .success(ProgramChecks(collector: collector, settings: chosen, tell: { _ in }).run(only: check.map { [$0] }))
            }
        }

        /// What breaks, and the beginning of the words for it.
        static let faults: [(ProgramCheck, String)] = [
            (.descriptor, "its first line is no JSON object"), (.onlyAsked, "it said 'record' before it was started"),
            (.versions, "it claims to speak version 999 of the protocol when it is asked for that"),
            (.strangeInput, "it ended with exit status 1; the last of it on standard error: "),
            (.inputEnd, "it was still there 4 s after its input had ended"),
            (.stopMessage, "it was still there 2 s after 'stop': in a test SIGTERM follows then"),
            (.terminate, "it was still there 4 s after SIGTERM"), (.companions, "when it had ended there were still: sleep"),
        ]

        @Test("R-50 A program that breaks one rule fails the check of that rule, and is told what to change", arguments: faults)
        func fault(_ check: ProgramCheck, _ problem: String) async throws {
            let results = try await Self.checks(Self.program(check.rawValue), stopDeadline: .seconds(4), only: check)
            let failed = results.filter(\.isFailed)
            #expect(failed.map(\.name) == [check.rawValue])
            #expect(failed.first?.problem?.hasPrefix(problem) == true, "\(failed)")
            #expect(failed.first?.remedy == check.remedy)
        }

        @Test("R-50 A program that waits for its reader for ever fails that check")
        func fullPipe() async throws {
            let results = try await Self.checks(Self.program("full_pipe"), stopDeadline: .seconds(2), only: .fullPipe)
            #expect(results.first { $0.name == "full_pipe" }?.isFailed == true)
        }

        @Test("R-50 What cannot be started or is of another kind fails the first check in words, and the rest is not tried")
        func noProgram() async throws {
            let results = try await Self.checks(ProgramCollector(program: "/no/such"), stopDeadline: .seconds(4))
            #expect(results.map(\.isFailed) == [true] + Array(repeating: false, count: ProgramCheck.allCases.count - 1))
            #expect(results[0].problem == "/no/such: there is no such program")
            let verdict = await ProgramConformance(ProgramCollector(program: "/bin/true")).run()
            #expect(!verdict.isConforming)
            #expect(verdict.failed[0].problem == "it ended with exit status 0 and had said nothing")
        }

        @Test("R-50 A good program conforms as a whole, and every result is told as it comes")
        func good() async throws {
            let told = Mutex<[String]>([])
            let verdict = await ProgramConformance(Self.program("none"), settings: .short()).run { result in
                told.withLock { $0.append(result.name) }
            }
            #expect(verdict.isConforming, "\(verdict)")
            #expect(verdict.collector == "unfit")
            let names = ProgramCheck.allCases.map(\.rawValue) + ConformanceCheck.allCases.map(\.rawValue)
            #expect(Set(verdict.checks.map(\.name)) == Set(names) && verdict.checks.count == names.count)
            #expect(told.withLock { $0.sorted() } == names.sorted())
        }

        @Test("R-50 A stray line and a complaint are told in the end")
        func heard() async throws {
            var verdict = await ProgramConformance(Self.program("messages"), settings: .short()).run()
            #expect(verdict.failed.contains { $0.name == "messages" && $0.problem?.contains("the first (not_json)") == true }, "\(verdict)")
            verdict = await ProgramConformance(Self.program("values"), settings: .short()).run()
            #expect(verdict[.values]?.problem?.hasPrefix("it said too much: ") == true, "\(verdict)")
            verdict = await ProgramConformance(Self.program("complaints"), settings: .short()).run()
            #expect(verdict.isConforming, "\(verdict)")
            guard case .noted(let seen)? = verdict.checks.first(where: { $0.name == "complaints" })?.outcome else {
                Issue.record("\(verdict.text)")
                return
            }
            #expect(
                seen.hasSuffix("the beginning: " + Array(repeating: "Warning: the sensor is old?[31m", count: 12).joined(separator: " | "))
                    || seen.contains("Warning: the sensor is old?[31m"))
        }

        @Test("R-50 A remedy speaks the protocol's language, not Swift's")
        func remedies() {
            for check in ConformanceCheck.allCases {
                let result = check.failed("x").forPrograms
                #expect(result.remedy?.contains("session") == false || [.timeStamps].contains(check) == false, "\(check)")
                #expect(
                    result.remedy?.contains("`collect`") != true || [.descriptors, .threads, .memory, .lateCalls].contains(check),
                    "\(check)")
            }
        }
    }
}
