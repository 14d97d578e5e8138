import CollectorCore
import CollectorTestKit
import Glibc
import MeasurementModel
import Testing

extension KitTests {
    /// collectors that say only at run time what they record.
    @Suite struct LateTests {
        private struct Late: LateCollector {
            let descriptor = CollectorDescriptor(nameOnly: "late")
            var connection: @Sendable (CollectionSession, (any Collector) async throws -> Void) async throws -> Void

            func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
                try await connection(session, use)
            }
        }

        @Test("R-50 A late collector is looked at by what it hands over")
        func good() async {
            let verdict = await CollectorConformance(Late { _, use in try await use(Specimen()) }, settings: .short()).run()
            #expect(verdict.isConforming, "\(verdict)")
            #expect(verdict.collector == "specimen")
            #expect(verdict[.declaration]?.outcome == .passed && verdict[.twoTests]?.outcome == .passed)
        }

        @Test("R-50 One that cannot connect says why")
        func away() async {
            await expectFailure(
                of: .declaration, "it never said what it records, and ended with 'failed' (not_found: there is no such program)",
                Late { _, _ in throw CollectorFailure("not_found", "there is no such program") })
        }

        @Test("R-50 What is declared late is checked like any declaration")
        func declaration() async {
            await expectFailure(
                of: .about, "'value' has no text",
                Late { _, use in
                    try await use(Specimen(fields: [.integer("value", privacy: .otherDiagnosticData, about: "")]))
                })
        }

        @Test("R-50 One that has to be killed does not stop")
        func killed() async {
            await expectFailure(
                of: .startStop, "('stuck' (killed: had to be killed))",
                Late { _, use in
                    try await use(Specimen())
                    throw CollectorFailure("killed", "had to be killed", state: .stuck)
                })
        }

        @Test("R-50 A late collector's own return is waited for, and its trace ends before")
        func afterwards() async {
            let kept = Shared<(any TraceWriter)?>(nil)
            await expectFailure(
                of: .lateCalls, "first 'unavailable'",
                Late { _, use in
                    try await use(
                        Specimen { trace, session in
                            kept.withLock { $0 = trace }
                            await Specimen.tick(trace, session)
                        })
                    kept.withLock { $0 }?.unavailable(.noDaemon)
                })
        }
    }
}
