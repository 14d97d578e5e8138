import FieldProbe
import Glibc

/// A collector of the app's own: what TCP did on this machine since the test began. Segments that had to be sent again during a slow
/// transfer tell a lossy path from a slow server.
struct TCPCollector: Collector {
    /// How often the counters are read: nothing tells when they change.
    var interval: Duration = .milliseconds(200)
    /// Where they are read. Of this thread's network namespace, which `/proc/net` would not promise (proc(5)).
    var path = "/proc/thread-self/net/snmp"

    var descriptor: CollectorDescriptor {
        CollectorDescriptor(
            name: "tcp", version: "1.0", trace: "tcp_trace",
            fields: [
                .integer("sent_segments", privacy: .otherDiagnosticData, about: "TCP segments sent since the test began, by all programs"),
                .integer("retransmitted_segments", privacy: .otherDiagnosticData, about: "Of these, segments that were sent again"),
                .integer("receive_errors", privacy: .otherDiagnosticData, about: "Segments received in error since the test began"),
            ],
            // Five readings missed: this thread was held up.
            maximumSilence: interval * 5, about: "TCP's own counters while the test runs")
    }

    /// It has a thread of its own, and lives as long as the test. The recorder compares, stamps and filters: here everything is handed over.
    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        var first: TCPCounters?
        repeat {
            if let now = Self.read(path) {
                let begin = first ?? now
                first = begin
                trace.record(Self.values(from: begin, to: now))
            } else {
                // Not there is a state, not an error: a container may hide the file.
                trace.unavailable("no_counters", detail: "\(path) cannot be read")
            }
            // The wait costs nothing, and ends at once with the test.
        } while !session.wait(until: session.clock.now() + interval).isCancelled
    }

    /// A counter that went backwards was reset or has run over: what it says is not known, and left out.
    static func values(from begin: TCPCounters, to now: TCPCounters) -> [String: FieldValue] {
        let differences = [
            "sent_segments": now.sentSegments - begin.sentSegments,
            "retransmitted_segments": now.retransmittedSegments - begin.retransmittedSegments,
            "receive_errors": now.receivedErrors - begin.receivedErrors,
        ]
        return differences.filter { $0.value >= 0 }.mapValues { .integer($0) }
    }

    private static func read(_ path: String) -> TCPCounters? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var octets = [UInt8](repeating: 0, count: 64 * 1024)
        let count = fread(&octets, 1, octets.count, file)
        return TCPCounters(snmp: String(decoding: octets[..<count], as: UTF8.self))
    }
}
