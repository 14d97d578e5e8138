import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

@testable import MeasurementSync

/// The queue as an app sees it.
@Suite struct QueueTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    /// what is queued is what the listener got, to the octet, and it goes at once.
    @Test func aFinishedTestsReportIsSentAtOnce() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let bodies = Mutex<[[UInt8]]>([])
        final class Recorder: ReportUploader {
            let record: @Sendable ([UInt8]) -> Void
            init(_ record: @escaping @Sendable ([UInt8]) -> Void) { self.record = record }
            func upload(id: String, body: [UInt8]) async -> UploadOutcome {
                record(body)
                return .accepted
            }
        }
        try queue.start(uploader: Recorder { body in bodies.withLock { $0.append(body) } })
        let report = Sample.report("4f1c")
        try await queue.queueMeasurement(report: report)
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(bodies.withLock { $0 } == [report.json.utf8()])
        await queue.close()
    }

    /// "There is no queue-specific setup": it is queued without a server, and sent when one is configured; also after a restart.
    @Test func whatIsLeftGoesOutNextTime() async throws {
        let first = MeasurementQueue.forTest(lab.path)
        try first.add("a", "b")
        await first.close()
        let second = MeasurementQueue.forTest(lab.path)
        #expect(second.getPendingCount() == 2)
        let uploader = ScriptedUploader()
        try second.start(uploader: uploader)
        #expect(await eventually { second.getPendingCount() == 0 })
        #expect(uploader.uploads == ["a", "b"])
        await second.close()
    }

    @Test func aFailedUploadIsTriedAgain() async throws {
        let queue = MeasurementQueue.forTest(lab.path, retry: .milliseconds(50))
        let tries = Mutex(0)
        let uploader = ScriptedUploader { _ in
            tries.withLock { tries in
                tries += 1
                return tries < 4 ? .retry(after: nil, .unreachable) : .accepted
            }
        }
        let events = queue.events
        try queue.start(uploader: uploader)
        try queue.add("a")
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(uploader.uploads == ["a", "a", "a", "a"])
        #expect(try queue.statistics.counts.retried == 3)
        await queue.close()
        var told: [QueueEvent] = []
        for await event in events { told.append(event) }
        #expect(told.filter { $0 == .failed(id: "a", .unreachable) }.count == 3)
        #expect(told.last == .sent(id: "a", wasStoredBefore: false))
    }

    /// P83: why nothing arrives is to be seen, also by another process, until something does.
    @Test func theLastFailureIsToBeSeen() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let isUp = Mutex(false)
        try queue.start(uploader: ScriptedUploader { _ in isUp.withLock { $0 } ? .accepted : .retry(after: nil, .unreachable) })
        try queue.add("a")
        let other = MeasurementQueue.forTest(lab.path)
        #expect(await eventually { (try? other.statistics.lastFailure?.message) == "no route" })
        #expect(try other.statistics.lastFailure?.id == "a")
        isUp.withLock { $0 = true }
        #expect(try await queue.sendPendingMeasurements() == 1)
        #expect(try other.statistics.lastFailure == nil)
        await queue.close()
    }

    /// A queue that was closed says so.
    @Test func aClosedQueue() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        await queue.close()
        #expect(throws: QueueError.closed) { try queue.start(uploader: ScriptedUploader()) }
        try queue.add("a")
        #expect(queue.getPendingCount() == 1)
    }

    /// the loss is counted and told.
    @Test func theOldestIsDropped() async throws {
        let queue = MeasurementQueue.forTest(lab.path, limit: 2)
        let events = queue.events
        try queue.add("a", "b", "c")
        #expect(queue.pendingIDs == ["b", "c"])
        #expect(try queue.statistics.counts.dropped == 1)
        await queue.close()
        var told: [QueueEvent] = []
        for await event in events { told.append(event) }
        #expect(told.contains(.dropped(id: "a")))
    }

    @Test func refusedReportsAreKeptAside() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let isStrict = Mutex(true)
        let uploader = ScriptedUploader { id in
            id == "bad" && isStrict.withLock { $0 } ? .refusedForGood(code: "document_invalid", detail: "no type") : .accepted
        }
        try queue.start(uploader: uploader)
        try queue.add("bad", "good")
        #expect(await eventually { queue.getPendingCount() == 0 })
        let aside = try #require(try queue.quarantined().first)
        #expect(aside.id == "bad" && aside.code == "document_invalid" && aside.detail == "no type")
        #expect(try queue.statistics.counts.refused == 1)
        #expect(throws: QueueError.self) { try queue.retryQuarantined(id: "nobody") }
        isStrict.withLock { $0 = false }
        try queue.retryQuarantined(id: "bad")
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(uploader.uploads == ["bad", "good", "bad"])
        #expect(try queue.quarantined() == [])
        await queue.close()
    }

    /// a damaged file is moved aside by the real thing too, and the next one goes.
    @Test func aDamagedFileBlocksNobody() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        try queue.add("bad", "good")
        try lab.write("queue/0000000000000001-bad.json", "{\"schema\":")
        let uploader = ScriptedUploader()
        try queue.start(uploader: uploader)
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(uploader.uploads == ["good"])
        #expect(try queue.quarantined().map(\.code) == ["no_report"])
        #expect(throws: QueueError.self) { try queue.retryQuarantined(id: "bad") }
        await queue.close()
    }

    /// by the server's word, and by hand.
    @Test func losingTheRegistration() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in .deviceDropped(reason: "client_disabled") }
        try queue.add("a", "b", "c")
        let events = queue.events
        try queue.start(uploader: uploader)
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(uploader.uploads == ["a"])
        try queue.add("d")
        await #expect(throws: QueueError.noServer) { try await queue.sendPendingMeasurements() }
        #expect(try queue.clear(reason: "by hand") == 1)
        #expect(queue.getPendingCount() == 0 && uploader.uploads == ["a"])
        await queue.close()
        var told: [QueueEvent] = []
        for await event in events { told.append(event) }
        #expect(told.contains(.cleared(reason: "client_disabled", reports: 3)))
    }

    @Test func clearingBreaksOffWhatIsUnderWay() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in await ScriptedUploader.hang() }
        try queue.start(uploader: uploader)
        try queue.add("a", "b")
        // So many that the queue is seen in the middle of being cleared.
        for number in 0..<48 { try queue.add("c\(number)") }
        #expect(await eventually { uploader.underWay == 1 })
        try queue.clear(reason: "by hand")
        #expect(await eventually { uploader.underWay == 0 })
        #expect(uploader.uploads == ["a"] && queue.getPendingCount() == 0)
        await queue.close()
    }

    @Test func aReportThatIsNone() throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let error = #expect(throws: QueueError.self) { try queue.queueMeasurement(id: "a", json: Sample.json("b")) }
        #expect(error?.code == .invalidReport)
        #expect(queue.getPendingCount() == 0)
    }

    /// P85: an upload that never ends does not stop the queue for ever.
    @Test func anUploadHasALimit() async throws {
        let queue = MeasurementQueue.forTest(lab.path, uploadLimit: .milliseconds(100))
        let uploader = ScriptedUploader { id in id == "a" ? await ScriptedUploader.hang() : .accepted }
        try queue.start(uploader: uploader)
        try queue.add("a", "b")
        #expect(await eventually { queue.pendingIDs == ["a"] })
        #expect(uploader.uploads == ["a", "b"])
        await queue.close()
    }

    @Test func resetTriesAnew() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let isUp = Mutex(false)
        let uploader = ScriptedUploader { _ in isUp.withLock { $0 } ? .accepted : .retry(after: .seconds(3600), .unreachable) }
        try queue.start(uploader: uploader)
        try queue.add("a")
        #expect(await eventually { uploader.uploads.count == 1 && !queue.isSending() })
        isUp.withLock { $0 = true }
        queue.reset()
        #expect(await eventually { queue.getPendingCount() == 0 })
        await queue.close()
    }

    @Test func isSending() async throws {
        let queue = MeasurementQueue.forTest(lab.path)
        let uploader = ScriptedUploader { _ in await ScriptedUploader.hang() }
        #expect(!queue.isSending())
        try queue.start(uploader: uploader)
        try queue.add("a")
        #expect(await eventually { queue.isSending() })
        await queue.close()
        #expect(!queue.isSending() && uploader.underWay == 0)
        #expect(queue.pendingIDs == ["a"])
    }

    /// Somebody deletes everything under a running queue: it goes on with new folders and locks.
    @Test func theFolderIsTakenAway() async throws {
        let queue = MeasurementQueue.forTest(lab.path + "/state", retry: .milliseconds(200))
        let uploader = ScriptedUploader()
        try queue.start(uploader: uploader)
        try queue.add("a")
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(rename(lab.path + "/state", lab.path + "/gone") == 0)
        try ChildProcess.run("rm", "-rf", lab.path + "/gone")
        try await Task.sleep(for: .milliseconds(50))
        try queue.add("b")
        #expect(await eventually { uploader.uploads == ["a", "b"] && queue.getPendingCount() == 0 })
        await queue.close()
    }

    /// An observer that does not read loses the oldest events, and that is counted.
    @Test func aSlowObserver() async throws {
        let queue = MeasurementQueue.forTest(lab.path, limit: 1000)
        let slow = queue.events
        for number in 0..<300 { queue.hub.tell(.enqueued(id: "\(number)")) }
        #expect(try queue.statistics.missedEvents == 300 - EventHub.capacity)
        await queue.close()
        var count = 0
        for await _ in slow { count += 1 }
        #expect(count == EventHub.capacity)
    }
}
