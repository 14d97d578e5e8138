import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync

/// tests and uploads exclude each other, over queues that share nothing but a folder, as two processes do.
@Suite struct ActivityTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    private func sender(_ uploader: ScriptedUploader) throws -> MeasurementQueue {
        let queue = MeasurementQueue.forTest(lab.path)
        try queue.start(uploader: uploader)
        return queue
    }

    /// When the asynchronous start returns, the upload has ended, and the report is still there.
    @Test(arguments: [true, false]) func anUploadUnderWayIsBrokenOff(here: Bool) async throws {
        let uploader = ScriptedUploader { _ in await ScriptedUploader.hang() }
        let queue = try sender(uploader)
        let other = here ? queue : MeasurementQueue.forTest(lab.path)
        try queue.add("a")
        #expect(await eventually { uploader.underWay == 1 })
        await other.onTestStarted()
        #expect(uploader.underWay == 0 && uploader.cancellations >= 1)
        #expect(other.activity.isHeld)
        let uploads = uploader.uploads.count
        try await Task.sleep(for: .milliseconds(300))
        #expect(uploader.uploads.count == uploads && queue.pendingIDs == ["a"])
        #expect(try queue.statistics.counts.retried == 0)
        other.onTestFinished()
        #expect(await eventually { uploader.uploads.count > uploads })
        await queue.close()
    }

    /// Both must end, wherever they run.
    @Test func twoTests() async throws {
        let uploader = ScriptedUploader()
        let queue = try sender(uploader)
        let other = MeasurementQueue.forTest(lab.path)
        await queue.onTestStarted()
        await queue.onTestStarted()
        await other.onTestStarted()
        try queue.add("a")
        queue.onTestFinished()
        try await Task.sleep(for: .milliseconds(150))
        queue.onTestFinished()
        try await Task.sleep(for: .milliseconds(150))
        #expect(uploader.uploads == [])
        other.onTestFinished()
        #expect(await eventually { uploader.uploads == ["a"] })
        // One too many is no test that ends.
        queue.onTestFinished()
        await queue.onTestStarted()
        try queue.add("b")
        try await Task.sleep(for: .milliseconds(150))
        #expect(uploader.uploads == ["a"])
        queue.onTestFinished()
        #expect(await eventually { uploader.uploads == ["a", "b"] })
        await queue.close()
    }

    /// flock(1) of a script counts as a test, and one that is killed does not block the queue.
    @Test func aScriptsTestThatIsKilled() async throws {
        let uploader = ScriptedUploader()
        let queue = try sender(uploader)
        #expect(await eventually { access(lab.path + "/activity.lock", F_OK) == 0 })
        let script = try ChildProcess(["flock", "--shared", lab.path + "/activity.lock", "sh", "-c", "echo; exec sleep 3600"])
        _ = await (try? offPool { script.readLine() })
        try queue.add("a")
        try await Task.sleep(for: .milliseconds(300))
        #expect(uploader.uploads == [])
        await #expect(throws: QueueError.testRunning) { try await queue.sendPendingMeasurements() }
        // Both processes that hold the lock's descriptor: flock(1) and its child.
        try ChildProcess.run("sh", "-c", "kill -9 $(cat /proc/\(script.pid)/task/\(script.pid)/children) \(script.pid)")
        script.wait()
        #expect(await eventually { uploader.uploads == ["a"] })
        await queue.close()
    }

    /// A program that only opens the lock costs a moment, and no report.
    @Test func somebodyOnlyLooks() async throws {
        let uploader = ScriptedUploader { _ in
            try? await Task.sleep(for: .milliseconds(30))
            return Task.isCancelled ? .retry(after: nil, .unreachable) : .accepted
        }
        let queue = try sender(uploader)
        try queue.add("a", "b", "c")
        for _ in 0..<5 {
            KernelLock.knock(lab.path + "/activity.lock")
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await eventually { queue.getPendingCount() == 0 })
        #expect(try queue.statistics.counts.retried == 0)
        await queue.close()
    }

    /// A transport that does not obey holds a test up no longer than the limit, and the test's side goes on asking.
    @Test func aSenderThatHangs() async throws {
        let uploader = ScriptedUploader { _ in
            await Task.detached { try? await Task.sleep(for: .milliseconds(700)) }.value
            return .accepted
        }
        let queue = try sender(uploader)
        var settings = MeasurementQueue.Settings()
        settings.silenceLimit = .milliseconds(100)
        let other = MeasurementQueue(stateDirectory: lab.path, settings: settings)
        try queue.add("a")
        #expect(await eventually { uploader.underWay == 1 })
        let start = MonotonicInstant.now()
        await other.onTestStarted()
        #expect(.now() - start >= .milliseconds(100) && !other.activity.isHeld)
        #expect(await eventually { other.activity.isHeld })
        #expect(uploader.underWay == 0)
        other.onTestFinished()
        await queue.close()
    }

    /// The start of a test whose task is cancelled waits for silence too.
    @Test func aCancelledTestsStart() async throws {
        let queue = try sender(ScriptedUploader { _ in await ScriptedUploader.hang() })
        try queue.add("a")
        #expect(await eventually { queue.isSending() })
        let other = MeasurementQueue.forTest(lab.path)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await other.onTestStarted()
            return other.activity.isHeld
        }
        #expect(await task.value)
        other.onTestFinished()
        await queue.close()
    }

    /// One sends; when it ends, another does; both may queue.
    @Test func oneUploaderAtATime() async throws {
        let first = ScriptedUploader { _ in await ScriptedUploader.hang() }
        let second = ScriptedUploader()
        let agent = try sender(first)
        try agent.add("a")
        #expect(await eventually { first.underWay == 1 })
        let app = try sender(second)
        try app.add("b")
        try await Task.sleep(for: .milliseconds(100))
        #expect(second.uploads == [])
        await agent.close()
        #expect(await eventually { second.uploads == ["a", "b"] })
        #expect(await eventually { app.getPendingCount() == 0 })
        await app.close()
    }

    /// P82: stopped and started a hundred times, and the lock is always had.
    @Test func handOverAHundredTimes() async throws {
        for number in 0..<100 {
            let uploader = ScriptedUploader()
            let queue = try sender(uploader)
            try queue.add("r\(number)")
            #expect(await eventually { uploader.uploads == ["r\(number)"] && queue.getPendingCount() == 0 })
            await queue.close()
        }
    }
}
