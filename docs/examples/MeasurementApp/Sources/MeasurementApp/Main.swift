import FieldProbe
@preconcurrency import Glibc
import Synchronization

/// One test: the measurement with two collectors beside it, then its report.
@main
struct MeasurementApp {
    /// Exit codes: 0 the measurement was completed, 1 it was not, 2 the command line is wrong, 3 no test was run.
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.allSatisfy({ $0 == "--json" }) else {
            complain("usage: MeasurementApp [--json]")
            exit(2)
        }
        do {
            let report = try await runTest()
            print(arguments.isEmpty ? ReportSummary.text(report) : String(decoding: report.json.utf8(), as: UTF8.self))
            exit(report.finishedReason == .completed ? 0 : 1)
        } catch {
            // Errors of the library say what happened and what to do.
            complain("no test was run: \(error)")
            exit(3)
        }
    }

    /// Runs one test, and gives the report that its listener received.
    static func runTest(_ measurement: LoopbackMeasurement = LoopbackMeasurement()) async throws -> Report {
        // The listener is called once, on no particular thread, with exactly the report that a queue would have got.
        let inbox = Inbox()
        var settings = QualityTest.Settings()
        settings.listener = { inbox.take($0) }
        // What goes wrong beside the test is told here, and never disturbs it.
        settings.collectors.logger = .standardError(category: "MeasurementApp", minimum: .warning)

        let server = try LoopbackServer()
        defer { server.stop() }
        let test = try QualityTest(
            type: "NETWORK", subject: "loopback",
            // An open gate: the test needs no registration, and its report stays here. In an app of a measurement service a registry
            // decides instead, and a queue brings the report to the server (docs/linking.md):
            //
            //     let registry = Registry(apiEndpoint: "https://server.example/client_api/v1")
            //     QualityTest(type: "NETWORK", subject: "loopback", registry: registry, ..., queue: queue, settings: settings)
            gate: OpenGate(),
            // The path that is recorded is the one to this address.
            target: "127.0.0.1",
            collectors: [ConnectionDetailCollector(), TCPCollector()],
            // Nothing is granted: neither collector needs a precise position or the names of Wi-Fi networks.
            permissions: .none, settings: settings)
        // Within the grant: a registration's time that runs out cancels the measurement. An open gate sets no limit.
        _ = try await test.run { session in try await session.withinGrant { try await measurement.run(port: server.port) } }
        // The listener has been called when the test is over, also for one that was cancelled or has failed.
        return inbox.report!
    }

    private static func complain(_ text: String) { fputs(text + "\n", stderr) }
}

/// Keeps what the listener received.
private final class Inbox: Sendable {
    private let received = Mutex<Report?>(nil)

    var report: Report? { received.withLock { $0 } }
    func take(_ report: Report) { received.withLock { $0 = report } }
}
