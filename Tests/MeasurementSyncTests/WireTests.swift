import Glibc
import HTTPTransport
import LabSupport
import MeasurementModel
import Synchronization
import Testing

@testable import MeasurementSync
@testable import QueueWorker

/// R-40 on the wire: a capture on the loopback interface shows not one octet to the server between a test's start and its end.
@Suite(.serialized) struct WireTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    /// Reports so large that the kernel's buffers are full of them when the test starts.
    private let large = ["QUEUE_PADDING": "8000000", "QUEUE_RETRY_MS": "100"]

    private func fill(_ count: Int) async throws {
        #expect(try await Worker.run("enqueue", lab.path, "r", "\(count)", environment: large).lines.count == count)
    }

    /// An upload is in flight; the test runs in another process; both a server that reads and one that does not.
    @Test(arguments: [true, false]) func anUploadInFlight(serverReads: Bool) async throws {
        let isTested = Flag()
        let server = try RecordingServer { _, _ in isTested.isSet ? .stores : .hangs }
        let slow = try LoopbackServer { connection in
            while !isTested.isSet { connection.sleep(milliseconds: 5) }
        }
        defer {
            isTested.set()
            server.stop()
            slow.stop()
        }
        let port = serverReads ? server.port : slow.port
        let capture = try Capture(port: port)
        try await fill(2)
        let uploader = try Worker.start("upload", lab.path, "\(port)", environment: large)
        defer { uploader.signal(SIGKILL) }
        #expect(await eventually { capture.segments.filter { $0.isToServer }.reduce(0) { $0 + $1.payload } > 100_000 })
        let test = try TestingProcess(lab.path)
        let start = try await test.begin()
        try await Task.sleep(for: .milliseconds(600))
        isTested.set()
        let end = try await test.end()
        try await Task.sleep(for: .milliseconds(50))
        #expect(capture.flowing(from: start, to: end).isEmpty)
        // It really was under way, and it really goes on afterwards.
        #expect(await eventually { !capture.flowing(from: end, to: .max).isEmpty })
        if serverReads { #expect(await eventually { server.stored.count == 2 }) }
    }

    /// A sender that is killed in the middle leaves nothing that flows on, and a test that starts then is silent at once.
    @Test func aKilledSender() async throws {
        let isTested = Flag()
        let slow = try LoopbackServer { connection in
            while !isTested.isSet { connection.sleep(milliseconds: 5) }
            connection.hang()
        }
        defer {
            isTested.set()
            slow.stop()
        }
        let capture = try Capture(port: slow.port)
        try await fill(1)
        let uploader = try Worker.start("upload", lab.path, "\(slow.port)", environment: large)
        #expect(await eventually { capture.segments.reduce(0) { $0 + $1.payload } > 100_000 })
        let test = try TestingProcess(lab.path)
        uploader.signal(SIGKILL)
        uploader.wait()
        let start = try await test.begin()
        isTested.set()
        try await Task.sleep(for: .milliseconds(400))
        let end = try await test.end()
        #expect(capture.flowing(from: start, to: end).isEmpty)
    }

    /// The product's own HTTP client keeps the bargain too, and would not without its setting.
    @Test(arguments: [true, false]) func theHTTPClient(endsAbruptly: Bool) async throws {
        let isTested = Flag()
        let server = try LoopbackServer { connection in
            while !isTested.isSet { connection.sleep(milliseconds: 5) }
            connection.hang()
        }
        defer {
            isTested.set()
            server.stop()
        }
        let capture = try Capture(port: server.port)
        let queue = MeasurementQueue.forTest(lab.path)
        try queue.queueMeasurement(id: "large", json: Sample.json("large", padding: 16_000_000))
        try queue.start(uploader: ClientUploader(url: server.url, endsAbruptly: endsAbruptly))
        // The server does not read yet: the kernel's buffers on both sides are full.
        #expect(await eventually { capture.segments.reduce(0) { $0 + $1.payload } > 100_000 })
        let other = MeasurementQueue.forTest(lab.path)
        await other.onTestStarted()
        #expect(other.activity.isHeld)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let start = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
        isTested.set()
        if endsAbruptly {
            try await Task.sleep(for: .milliseconds(800))
            #expect(capture.flowing(from: start, to: .max).isEmpty)
        } else {
            #expect(await eventually { !capture.flowing(from: start, to: .max).isEmpty })
        }
        await queue.close()
        other.onTestFinished()
    }

    /// Two processes queue and send; the test runs in a third, and again in one that is killed.
    @Test func twoProcessesAndAKilledTest() async throws {
        let server = try RecordingServer()
        defer { server.stop() }
        let capture = try Capture(port: server.port)
        let workers = try ["x", "y"].map {
            try Worker.start("both", lab.path, "\(server.port)", $0, environment: ["QUEUE_RETRY_MS": "100"])
        }
        defer { for worker in workers { worker.signal(SIGKILL) } }
        for worker in workers { LabThread.start { while !worker.readAvailable().isEmpty {} } }
        for isKilled in [false, true, false] {
            let before = server.stored.count
            #expect(await eventually { server.stored.count > before + 3 })
            let test = try TestingProcess(lab.path)
            let start = try await test.begin()
            try await Task.sleep(for: .milliseconds(400))
            let end: Int64
            if isKilled {
                var now = timespec()
                clock_gettime(CLOCK_REALTIME, &now)
                end = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
                test.process.signal(SIGKILL)
                test.process.wait()
            } else {
                end = try await test.end()
            }
            try await Task.sleep(for: .milliseconds(50))
            #expect(capture.flowing(from: start, to: end).isEmpty)
        }
        let before = server.stored.count
        #expect(await eventually { server.stored.count > before + 3 })
    }

    /// 50 reports go over one connection, in order, each once.
    @Test func oneWarmConnection() async throws {
        let server = try RecordingServer()
        defer { server.stop() }
        let queue = MeasurementQueue.forTest(lab.path)
        for number in 0..<50 { try queue.add("r\(number)") }
        try queue.start(uploader: SocketUploader(port: server.port))
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(server.deliveries == (0..<50).map { "r\($0)" })
        #expect(server.connections == 1)
        await queue.close()
    }
}

/// An uploader over the product's HTTP client.
private struct ClientUploader: ReportUploader {
    let url: String
    let client: HTTPClient

    init(url: String, endsAbruptly: Bool) {
        self.url = url
        var settings = HTTPClient.Settings()
        settings.endsAbruptly = endsAbruptly
        client = HTTPClient(settings: settings)
    }

    func upload(id: String, body: [UInt8]) async -> UploadOutcome {
        do {
            let response = try await client.send(HTTPRequest("\(url)/measurements/\(id)", method: "PUT", body: body))
            let answer = UploadAnswer(
                status: response.status, body: response.body, retryAfter: response.header("Retry-After"), date: response.header("Date"))
            return UploadClasses.outcome(of: answer, id: id, now: .now())
        } catch {
            return .retry(after: nil, UploadFailure(code: "connection", message: "\(error)", isServerWide: true))
        }
    }
}

/// Something that has happened.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
