import CollectorTestKit
import FieldProbe
import Testing

@testable import MeasurementApp

@Suite struct TCPCollectorTests {
    private static let snmp = """
        Ip: Forwarding DefaultTTL
        Ip: 1 64
        Tcp: RtoAlgorithm ActiveOpens InSegs OutSegs RetransSegs InErrs OutRsts
        Tcp: 1 10 2000 3000 7 1 4
        Udp: InDatagrams
        Udp: 5

        """

    @Test func countersAreFoundByTheirNames() {
        #expect(TCPCounters(snmp: Self.snmp) == TCPCounters(sentSegments: 3000, retransmittedSegments: 7, receivedErrors: 1))
    }

    @Test(arguments: ["", "Tcp: OutSegs\n", "Tcp: OutSegs RetransSegs InErrs\nTcp: 1 2\n", "Tcp: OutSegs RetransSegs InErrs\nTcp: 1 2 x\n"])
    func whatIsIncompleteIsNotGuessed(text: String) { #expect(TCPCounters(snmp: text) == nil) }

    @Test func aCounterThatWentBackwardsIsLeftOut() {
        let begin = TCPCounters(sentSegments: 100, retransmittedSegments: 5, receivedErrors: 0)
        let now = TCPCounters(sentSegments: 3, retransmittedSegments: 6, receivedErrors: 0)
        #expect(TCPCollector.values(from: begin, to: now) == ["retransmitted_segments": .integer(1), "receive_errors": .integer(0)])
    }

    /// The contract of every collector: deadlines, nothing left behind, only what is declared. Fewer cycles than usual, to be quick.
    @Test func itKeepsTheContract() async {
        var settings = CollectorConformance.Settings()
        settings.runs = 20
        settings.observation = .milliseconds(500)
        // The machine may be busy, and the limit is about a collector that does not stop.
        settings.stopDeadline = .seconds(5)
        let verdict = await CollectorConformance(TCPCollector(interval: .milliseconds(50)), settings: settings).run()
        #expect(verdict.isConforming, "\(verdict)")
    }

    /// Under the host that a test runs it under, without a test around it.
    @Test func theFirstSnapshotCountsFromZero() async throws {
        let run = CollectorHost(collectors: [TCPCollector()]).start(kind: TestKind(type: "NETWORK", subject: "loopback"))
        let outcome = await run.finish()
        let first = try #require(outcome.traces.first?.snapshots.first)
        #expect(first["sent_segments"] == .integer(0))
        #expect(outcome.records.first?.state == .ok)
    }

    @Test func missingCountersAreAStateAndNoError() async {
        let run = CollectorHost(collectors: [TCPCollector(path: "/proc/none")]).start(kind: TestKind(type: "NETWORK", subject: "loopback"))
        try? await Task.sleep(for: .milliseconds(50))
        let outcome = await run.finish()
        #expect(outcome.records.first?.state == .unavailable)
        #expect(outcome.records.first?.reason == "no_counters")
    }
}
