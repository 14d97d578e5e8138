import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync
@testable import QueueWorker

/// Servers as they are met: the right class for each, and the next report goes all the same.
@Suite struct AnswerTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    enum Fate: Sendable { case sent, waits, aside, cleared }

    private func run(
        _ behaviour: RecordingServer.Behaviour, isHeld: Bool = false, limit: Duration = .seconds(60), uploadLimit: Duration = .seconds(600)
    ) async throws -> (fate: Fate, event: QueueEvent?, server: RecordingServer) {
        let server = try RecordingServer { id, _ in id == "odd" ? behaviour : .stores }
        let queue = MeasurementQueue.forTest(lab.path, retry: .seconds(60), uploadLimit: uploadLimit)
        try queue.add("odd", "next")
        let events = queue.events
        try queue.start(uploader: SocketUploader(port: server.port, limit: limit))
        var first: QueueEvent?
        for await event in events {
            switch event {
            case .becameUploader, .paused, .resumed: continue
            default: first = event
            }
            break
        }
        // A manual send reaches the next one also where the whole server seemed to be away.
        if case .failed(_, let failure)? = first, failure.isServerWide { _ = try await queue.sendPendingMeasurements() }
        let isCleared = if case .cleared? = first { true } else { false }
        if !isCleared, !isHeld { _ = await eventually { !queue.pendingIDs.contains("next") } }
        _ = await eventually { !queue.isSending() }
        let fate: Fate =
            isCleared
            ? .cleared
            : queue.pendingIDs.contains("odd") ? .waits : try queue.quarantined().contains { $0.id == "odd" } ? .aside : .sent
        await queue.close()
        server.stop()
        return (fate, first, server)
    }

    private func problem(_ status: String, _ code: String, _ headers: [String] = []) -> RecordingServer.Behaviour {
        .answers(status, headers: headers, body: "{\"code\":\"\(code)\",\"detail\":\"d\"}")
    }

    @Test func slowlyOctetByOctet() async throws { #expect(try await run(.trickles).fate == .sent) }

    /// P90: the report was stored, the answer never came: it goes again, and is stored once.
    @Test func leavesBeforeTheAnswer() async throws {
        let result = try await run(.storesAndLeaves)
        #expect(result.fate == .waits && result.server.stored == ["odd", "next"])
        let queue = MeasurementQueue.forTest(lab.path)
        let server = try RecordingServer()
        try queue.start(uploader: SocketUploader(port: server.port))
        #expect(await eventually { queue.getPendingCount() == 0 })
        await queue.close()
        server.stop()
    }

    @Test func hangs() async throws {
        let result = try await run(.hangs, limit: .seconds(2))
        #expect(result.fate == .waits && result.server.stored == ["next"])
    }

    @Test func hangsLongerThanTheQueueAllows() async throws {
        let result = try await run(.hangs, uploadLimit: .seconds(2))
        #expect(result.fate == .waits && result.server.stored == ["next"])
    }

    @Test(arguments: ["400 Bad Request", "409 Conflict", "413 Content Too Large", "422 Unprocessable Content"])
    func refused(status: String) async throws {
        let result = try await run(problem(status, "some_code"))
        #expect(result.fate == .aside && result.server.stored == ["next"])
        #expect(result.event == .refused(id: "odd", code: "some_code", detail: "d"))
    }

    @Test(arguments: ["401 Unauthorized", "403 Forbidden"]) func deviceDropped(status: String) async throws {
        let result = try await run(problem(status, "client_disabled"))
        #expect(result.fate == .cleared && result.server.stored.isEmpty)
    }

    @Test(arguments: [
        "401 Unauthorized", "403 Forbidden", "404 Not Found", "500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable",
        "200 OK", "201 Created", "301 Moved Permanently", "307 Temporary Redirect", "299 Odd",
    ])
    func triedAgain(status: String) async throws {
        let result = try await run(.answers(status, headers: ["Location: http://127.0.0.1:1/"], body: "<html>no</html>"))
        #expect(result.fate == .waits && result.server.stored == ["next"])
        #expect(result.server.deliveries.filter { $0 == "odd" }.count <= 2)
    }

    @Test(arguments: ["5", "86400", "Mon, 30 Nov 2099 00:00:00 GMT"]) func comeLater(retryAfter: String) async throws {
        let result = try await run(problem("429 Too Many Requests", "rate_limited", ["Retry-After: \(retryAfter)"]), isHeld: true)
        // The server's word holds for all: the next one waits too.
        #expect(result.fate == .waits)
        #expect(result.server.deliveries == ["odd"])
    }

    @Test func garbage() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.send([0, 1, 2, 255, 13, 10, 13, 10, 7])
        }
        let queue = MeasurementQueue.forTest(lab.path)
        let events = queue.events
        try queue.add("a")
        try queue.start(uploader: SocketUploader(port: server.port))
        for await event in events { if case .failed = event { break } }
        #expect(queue.pendingIDs == ["a"])
        await queue.close()
        server.stop()
    }
}
