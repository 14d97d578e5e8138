internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import MeasurementSync
internal import ProbeLog

/// A process that queues, sends or tests until it is told to stop, or is killed. What it has achieved it says on standard output, one line
/// each, in single writes.
@main
enum QueueWorker {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 2 else { fail("usage: QueueWorker enqueue|upload|both|test|clear|count STATE [ARGUMENT]...") }
        clinux_ignore_sigpipe()
        let queue = queue(words[1])
        switch words[0] {
        case "enqueue": enqueue(queue, prefix: words[2], count: Int(words[3]) ?? 1)
        case "upload": await upload(queue, port: UInt16(words[2]) ?? 0)
        case "both": await both(queue, port: UInt16(words[2]) ?? 0, prefix: words[3])
        case "test": await test(queue)
        case "bench": try? bench(words[1], count: Int(words[2]) ?? 1, octets: Int(words[3]) ?? 1, limit: Int(words[4]) ?? 50)
        case "written": try? written(words[1], count: Int(words[2]) ?? 1, octets: Int(words[3]) ?? 1)
        case "clear": report { "cleared \(try queue.clear(reason: "by hand"))" }
        case "count": report { "pending \(try queue.statistics.pending)" }
        default: fail("no command \(words[0])")
        }
    }

    private static func queue(_ state: String) -> MeasurementQueue {
        var settings = MeasurementQueue.Settings()
        settings.limit = number("QUEUE_LIMIT") ?? 10_000
        settings.retryInterval = .milliseconds(number("QUEUE_RETRY_MS") ?? 60_000)
        return MeasurementQueue(
            stateDirectory: state, settings: settings, logger: .standardError(category: "worker", minimum: .error))
    }

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    static func say(_ text: String) {
        let octets = Array((text + "\n").utf8)
        octets.withUnsafeBytes { _ = write(1, $0.baseAddress, $0.count) }
    }

    private static func fail(_ text: String) -> Never {
        say(text)
        exit(2)
    }

    private static func report(_ body: () throws -> String) {
        do {
            say(try body())
        } catch let error as QueueError {
            say("error \(error.code) \(error)")
        } catch {
            say("error other \(error)")
        }
    }

    private static func body(_ id: String) -> [UInt8] {
        let padding = String(repeating: "x", count: number("QUEUE_PADDING") ?? 0)
        return JSONValue.object(["schema": .string(Report.schema), "id": .string(id), "result": .string(padding)]).utf8()
    }

    private static func add(_ queue: MeasurementQueue, _ id: String) {
        report {
            try queue.queueMeasurement(id: id, json: body(id))
            return "ok \(id)"
        }
    }

    private static func enqueue(_ queue: MeasurementQueue, prefix: String, count: Int) {
        // Seen by whoever traces the system calls.
        access("/marker-begin", F_OK)
        for number in 0..<count { add(queue, "\(prefix)-\(number)") }
        access("/marker-end", F_OK)
    }

    /// Until everything is sent, if it is told so, or for ever.
    private static func upload(_ queue: MeasurementQueue, port: UInt16) async {
        let events = queue.events
        start(queue, port: port)
        if number("QUEUE_DRAIN") == 1 {
            while queue.getPendingCount() > 0 { usleep(1000) }
            await queue.close()
            return say("drained")
        }
        for await event in events { say("event \(event)") }
    }

    private static func start(_ queue: MeasurementQueue, port: UInt16) {
        report {
            try queue.start(uploader: SocketUploader(port: port))
            return "started"
        }
    }

    private static func both(_ queue: MeasurementQueue, port: UInt16, prefix: String) async {
        start(queue, port: port)
        for number in 0..<1_000_000 {
            add(queue, "\(prefix)-\(number)")
            usleep(500)
        }
    }

    /// A test from the first line of standard input to the second.
    private static func test(_ queue: MeasurementQueue) async {
        var octet: UInt8 = 0
        while read(0, &octet, 1) == 1, octet != 0x0A {}
        await queue.onTestStarted()
        say("silent \(clinux_realtime_ns())")
        while read(0, &octet, 1) == 1, octet != 0x0A {}
        say("ended \(clinux_realtime_ns())")
        queue.onTestFinished()
    }
}
