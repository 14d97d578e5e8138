import CollectorCore
import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

@testable import fieldprobe

/// `fieldprobe watch`: the live view.
@Suite struct WatchTests {
    @Test func oneLineForEachChange() async throws {
        let outcome = try await Program.run("watch", "--json", "--duration", "300ms", "--collector", "connection-detail")
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 1)
        let line = try JSONValue(parsing: String(#require(lines.first)))
        #expect(line["trace"]?.string == "connection_detail_trace")
        #expect(line["snapshot"]?["client_time"] != nil)
        #expect(line["snapshot"]?["offset_ms"] != nil)
        #expect(line["snapshot"]?["type"]?.string != nil)
        let text = try await Program.run("watch", "--duration", "300ms", "--collector", "connection-detail")
        #expect(text.output.contains("connection_detail_trace  type="))
        #expect(text.errors.isEmpty)
    }

    @Test(arguments: ["INT", "TERM", "HUP"])
    func signalsEndItCleanly(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/out"
        let outcome = try await Program.shell(
            """
            env --default-signal=\(name) "$0" watch --json > \(file) &
            pid=$!
            while ! grep -qs trace \(file); do sleep 0.05; done
            kill -\(name) $pid
            wait $pid
            echo "status $?"
            """)
        #expect(outcome.output == "status 0\n")
        #expect(outcome.errors.isEmpty)
    }

    @Test(.timeLimit(.minutes(1))) func aReaderThatLeavesEndsIt() async throws {
        let outcome = try await Program.shell("{ \"$0\" watch; echo \"status $?\" >&2; } | head -n 1")
        #expect(outcome.errors == "status 0\n")
        let never = try await Program.shell("{ \"$0\" watch; echo \"status $?\" >&2; } | true")
        #expect(never.errors == "status 0\n")
    }

    @Test(.timeLimit(.minutes(1))) func whatCannotBeWrittenIsTold() async throws {
        let full = try await Program.shell("exec \"$0\" watch --json > /dev/full")
        #expect(full.status == 125)
        #expect(full.errors == "fieldprobe: standard output cannot be written: No space left on device\n")
    }

    @Test func linesOfEveryKind() {
        let snapshot = Snapshot(
            clientTime: Timestamp(milliseconds: 0), clientTimeSkewed: nil, offset: .milliseconds(1234),
            fields: [.init(name: "ssid", value: .text("a\u{1B}]0;x\u{07}b")), .init(name: "rssi", value: .integer(-60))])
        let event = TraceEvent.Kind.snapshot(snapshot)
        #expect(
            WatchLine.json("t_trace", event)
                == #"{"trace":"t_trace","snapshot":{"client_time":"1970-01-01T00:00:00.000Z","offset_ms":1234,"ssid":"a\u001b]0;x\u0007b","rssi":-60}}"#
        )
        #expect(WatchLine.text("t_trace", event) == #"1.234  t_trace  ssid="a\u001b]0;x\u0007b" rssi=-60"#)
        let gap = TraceEvent.Kind.gap(.init(from: .milliseconds(5), to: nil, reason: "event_loss"))
        #expect(WatchLine.json("t_trace", gap) == #"{"trace":"t_trace","gap":{"from_offset_ms":5,"reason":"event_loss"}}"#)
        #expect(WatchLine.text("t_trace", gap) == "0.005  t_trace  gap event_loss begins")
        let state = TraceEvent.Kind.state(.unavailable, reason: "no_daemon")
        #expect(WatchLine.json("t_trace", state) == #"{"trace":"t_trace","state":"unavailable","reason":"no_daemon"}"#)
        #expect(WatchLine.text("t_trace", state) == "t_trace  is unavailable: no_daemon")
    }

    /// A reader that does not read holds nobody up: lines are dropped, counted, and told.
    @Test func aFullQueueDropsAndNeverBlocks() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let told = Mutex(0)
        let printer = try LinePrinter(descriptor: ends[1], capacity: 10) { count in told.withLock { $0 += count } }
        let begin = MonotonicInstant.now()
        for index in 0..<200_000 { printer.put("line \(index)") }
        #expect(MonotonicInstant.now() - begin < .seconds(60))
        // It waits for the reader no longer than it says.
        printer.finish()
        #expect(MonotonicInstant.now() - begin < .seconds(90))
        var buffer = [UInt8](repeating: 0, count: 65536)
        var lines = 0
        var isOver = false
        while !isOver {
            var events = [
                pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0), pollfd(fd: printer.ended, events: Int16(POLLIN), revents: 0),
            ]
            poll(&events, 2, 10_000)
            if events[0].revents != 0 {
                let count = read(ends[0], &buffer, buffer.count)
                lines += buffer[..<max(0, count)].count { $0 == 10 }
            } else {
                isOver = true
            }
        }
        #expect(told.withLock { $0 } + lines == 200_000)
        #expect(told.withLock { $0 } > 0)
        close(ends[0])
        close(ends[1])
    }
}
