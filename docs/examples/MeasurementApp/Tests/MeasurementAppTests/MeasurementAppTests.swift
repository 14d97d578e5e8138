import FieldProbe
import Testing

@testable import MeasurementApp

@Suite struct MeasurementAppTests {
    @Test func theListenerReceivesTheReportWithBothTraces() async throws {
        let report = try await MeasurementApp.runTest(LoopbackMeasurement(connections: 3, sendingTime: .milliseconds(300)))
        #expect(report.finishedReason == .completed)
        #expect(report.result?["connect"]?["count"]?.int64 == 3)
        #expect(try #require(report.result?["received_octets"]?.int64) > 0)
        for key in ["connection_detail_trace", "tcp_trace"] {
            let trace = try #require(report.traces.first { $0.key == key })
            #expect(!trace.snapshots.isEmpty)
        }
    }

    @Test func aCancelledTestStillHasAReport() async throws {
        let test = Task { try await MeasurementApp.runTest(LoopbackMeasurement(connections: 1, sendingTime: .seconds(60))) }
        try await Task.sleep(for: .milliseconds(200))
        test.cancel()
        let report = try await test.value
        #expect(report.finishedReason == .aborted)
        #expect(report.traces.contains { $0.key == "tcp_trace" && !$0.snapshots.isEmpty })
    }

    @Test func aServerThatIsGoneFailsTheMeasurementAndNothingElse() async throws {
        let server = try LoopbackServer()
        let port = server.port
        server.stop()
        await #expect(throws: SystemError.self) { try await LoopbackMeasurement(connections: 1).run(port: port) }
    }

    @Test func theSummaryNamesWhatWasMeasured() async throws {
        let report = try await MeasurementApp.runTest(LoopbackMeasurement(connections: 2, sendingTime: .milliseconds(100)))
        let text = ReportSummary.text(report)
        for words in ["NETWORK/loopback: completed", "throughput", "connection-detail: ok", "tcp: ok"] {
            #expect(text.contains(words), "\(text)")
        }
    }
}
