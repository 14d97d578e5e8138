import CollectorCore
import ExternalCollector
@preconcurrency import Glibc
import MeasurementModel
import Synchronization

/// Records a second, and processor time for each record, of the three ways to write a collector. One line of JSON for each.
///
/// CollectorBench COUNT swift | program FILE | library FILE
///
/// The limits are off: what is measured is the way itself, and not what a test allows.
@main
enum CollectorBench {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count >= 3, let count = Int(words[1]) else {
            return fail("usage: CollectorBench COUNT swift | program FILE | library FILE")
        }
        var settings = ProgramCollector.Settings()
        settings.limits.linesPerSecond = 1e12
        settings.limits.lineBurst = 1e12
        settings.limits.processorBurst = 1e6
        settings.configuration = ["count": "\(count)"]
        let collector: any Collector
        switch (words[2], words.count) {
        case ("swift", 3): collector = Counter(count: count)
        case ("program", 4): collector = ProgramCollector(program: words[3], arguments: ["\(count)"], settings: settings)
        case ("library", 4): collector = ProgramCollector(library: words[3], settings: settings)
        default: return fail("there is no way '\(words[2])'")
        }
        await measure(collector, words[2], count)
    }

    private static func fail(_ text: String) {
        fputs(text + "\n", stderr)
        exit(2)
    }

    private static func measure(_ collector: any Collector, _ name: String, _ count: Int) async {
        let progress = Progress(count: count)
        var settings = CollectorHost.Settings()
        settings.keepsSnapshots = false
        settings.limits.recordsPerSecond = 1e12
        settings.limits.burst = 1e12
        settings.limits.maximumSnapshots = .max
        settings.observer = { if case .snapshot = $0.kind { progress.step() } }
        let before = processorTime(RUSAGE_SELF)
        let run = CollectorHost(collectors: [collector], settings: settings).start(kind: TestKind(type: "NONE", subject: "bench"))
        await progress.wait()
        let outcome = await run.finish()
        let took = progress.took
        let own = processorTime(RUSAGE_SELF) - before
        let child = processorTime(RUSAGE_CHILDREN)
        let recorded = outcome.records[0].recorded
        guard recorded == count else { return fail("\(name): \(recorded) of \(count) recorded: \(outcome.records[0])") }
        let line: JSONObject = [
            "way": .string(name), "records": .integer(count), "seconds": .real(took.inSeconds) ?? .null,
            "own_cpu": .real(own) ?? .null, "child_cpu": .real(child) ?? .null,
        ]
        print(JSONValue.object(line).text())
    }

    private static func processorTime(_ who: __rusage_who) -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(who.rawValue), &usage)
        let user = Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
        return user + Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
    }
}

/// The linked one.
private struct Counter: Collector {
    let count: Int
    let descriptor = CollectorDescriptor(
        name: "counter", version: "1", trace: "counter_trace",
        fields: [
            .integer("value", privacy: .otherDiagnosticData, about: "A number"),
            .number("level", unit: .dB, privacy: .otherDiagnosticData, about: "A level"),
            .text("label", privacy: .otherDiagnosticData, about: "A text"),
        ])

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        for number in 1...count {
            trace.record(["value": .integer(number), "level": .number(-67.5), "label": .text("2.4 GHz, channel 6")])
        }
        while !session.wait().isCancelled {}
    }
}

/// From the first to the last snapshot.
private final class Progress: Sendable {
    private let state: Mutex<(seen: Int, first: MonotonicInstant, last: MonotonicInstant)>
    private let count: Int
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init(count: Int) {
        self.count = count
        state = Mutex((0, .now(), .now()))
        (stream, continuation) = AsyncStream.makeStream()
    }

    func step() {
        let isLast = state.withLock { state in
            state.seen += 1
            if state.seen == 1 { state.first = .now() }
            if state.seen == count { state.last = .now() }
            return state.seen == count
        }
        if isLast { continuation.finish() }
    }

    var took: Duration { state.withLock { $0.last - $0.first } }
    func wait() async { for await _ in stream {} }
}
