import LabSupport
import MeasurementModel
import Synchronization
import Testing

@testable import MeasurementSync

/// R-43, word by word.
@Suite struct SendTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    @Test func withoutAServer() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        try queue.add("a")
        await #expect(throws: QueueError.noServer) { try await queue.sendPendingMeasurements() }
    }

    @Test(arguments: [0, 2]) func whileATestRuns(pending: Int) async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        await queue.onTestStarted()
        for number in 0..<pending { try queue.add("r\(number)") }
        try queue.start(uploader: ScriptedUploader())
        await #expect(throws: QueueError.testRunning) { try await queue.sendPendingMeasurements() }
        // In another process too.
        let other = MeasurementQueue.forTest(lab.path)
        try other.start(uploader: ScriptedUploader())
        await #expect(throws: QueueError.testRunning) { try await other.sendPendingMeasurements() }
        #expect(queue.getPendingCount() == pending)
        queue.onTestFinished()
        #expect(await eventually { queue.getPendingCount() == 0 })
        await queue.close()
        await other.close()
    }

    @Test func withNothingToSend() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        try queue.start(uploader: ScriptedUploader())
        #expect(try await queue.sendPendingMeasurements() == 0)
        await queue.close()
    }

    /// The one under way counts, and is not sent twice; each has succeeded or failed once; the number is that of the sent.
    @Test func everythingPendingOnce() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let gate = Mutex(false)
        let uploader = ScriptedUploader { id in
            while !gate.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
            return id == "b" ? .retry(after: nil, .broken) : id == "c" ? .refusedForGood(code: "no", detail: "") : .accepted
        }
        try queue.start(uploader: uploader)
        try queue.add("a", "b", "c", "d")
        #expect(await eventually { uploader.underWay == 1 })
        async let sent = queue.sendPendingMeasurements()
        try await Task.sleep(for: .milliseconds(50))
        try queue.add("late")
        gate.withLock { $0 = true }
        #expect(try await sent == 2)
        #expect(uploader.uploads.prefix(4) == ["a", "b", "c", "d"])
        #expect(await eventually { queue.pendingIDs == ["b"] })
        #expect(uploader.uploads.filter { $0 == "a" }.count == 1)
        await queue.close()
    }

    /// When nobody answers, each of them has failed, and one try is enough to know.
    @Test func anUnreachableServerEndsTheCallSoon() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in .retry(after: nil, .unreachable) }
        try queue.add("a", "b", "c")
        try queue.start(uploader: uploader)
        #expect(await eventually { uploader.uploads.count == 1 })
        #expect(try await queue.sendPendingMeasurements() == 0)
        #expect(uploader.uploads.count == 2 && queue.getPendingCount() == 3)
        await queue.close()
    }

    /// A test that starts meanwhile ends the call, and nothing is lost or counted as failed.
    @Test func aTestStartsMeanwhile() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in await ScriptedUploader.hang() }
        try queue.start(uploader: uploader)
        try queue.add("a", "b")
        let result = Mutex<Result<Int, QueueError>?>(nil)
        queue.sendPendingMeasurements { outcome in result.withLock { $0 = outcome } }
        #expect(await eventually { uploader.underWay == 1 })
        await queue.onTestStarted()
        #expect(uploader.underWay == 0)
        #expect(await eventually { result.withLock { $0 } == .failure(.testRunning) })
        #expect(queue.pendingIDs == ["a", "b"])
        #expect(try queue.statistics.counts.retried == 0)
        queue.onTestFinished()
        await queue.close()
    }

    @Test func losingTheRegistrationEndsTheCall() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in
            try? await Task.sleep(for: .milliseconds(50))
            return .deviceDropped(reason: "client_disabled")
        }
        try queue.start(uploader: uploader)
        try queue.add("a", "b")
        let error = await #expect(throws: QueueError.self) { try await queue.sendPendingMeasurements() }
        #expect(error?.code == .registrationLost || error?.code == .noServer)
        await queue.close()
    }

    @Test func closingEndsTheCall() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in await ScriptedUploader.hang() }
        try queue.start(uploader: uploader)
        try queue.add("a")
        #expect(await eventually { uploader.underWay == 1 })
        let result = Mutex<Result<Int, QueueError>?>(nil)
        queue.sendPendingMeasurements { outcome in result.withLock { $0 = outcome } }
        await queue.close()
        #expect(result.withLock { $0 } == .failure(.closed))
        await #expect(throws: QueueError.closed) { try await queue.sendPendingMeasurements() }
    }

    /// Another process sends: it hands over after the report that it is at, and what it has sent counts.
    @Test func anotherProcessHandsOver() async throws {
        let agent = MeasurementQueue.forTest(lab.path)
        let slow = ScriptedUploader { _ in
            try? await Task.sleep(for: .milliseconds(100))
            return .accepted
        }
        try agent.start(uploader: slow)
        try agent.add("a", "b", "c")
        #expect(await eventually { slow.underWay == 1 })
        let app = MeasurementQueue.forTest(lab.path)
        let quick = ScriptedUploader()
        try app.start(uploader: quick)
        // The first one may be through before the call.
        let sent = try await app.sendPendingMeasurements()
        #expect((2...3).contains(sent))
        #expect(slow.uploads + quick.uploads == ["a", "b", "c"])
        #expect(!quick.uploads.isEmpty)
        // And takes over again when the other one has ended.
        await app.close()
        try agent.add("d")
        #expect(await eventually { slow.uploads.contains("d") && agent.getPendingCount() == 0 })
        await agent.close()
    }
}
