internal import Glibc
internal import MeasurementModel
internal import ProbeLog

extension MeasurementQueue {
    /// Tries to send everything that is pending now, and returns when each report has been sent or has failed once. An upload that is
    /// under way counts, and is not made twice. What fails stays queued, and is tried again by itself.
    ///
    /// Where another process sends for this queue, that one is asked to hand over, which it does after the report that it is at.
    ///
    /// - Returns: how many of them the server has now.
    /// - Throws: ``QueueError``: a test runs or starts meanwhile, no server is configured, the registration is lost.
    public func sendPendingMeasurements() async throws(QueueError) -> Int {
        let result = await withCheckedContinuation { continuation in
            loop.send { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// The same with a completion handler, which is called once, on no particular thread.
    public func sendPendingMeasurements(completion: @escaping @Sendable (Result<Int, QueueError>) -> Void) { loop.send(completion) }

    /// The same for who does not need the outcome.
    public func sendPendingMeasurements() { loop.send { _ in } }

    /// Puts everything that is pending into its first state: the upload under way is broken off, failures are forgotten, what dead processes
    /// left behind is removed, and all is tried anew. Nothing is lost by it. Where another process sends, it is told to do the same.
    public func reset() {
        _ = try? DurableFile.sweep(store.folder.queue)
        loop.post(.event(.reset))
        KernelLock.knock(store.folder.uploaderWanted)
    }

    /// Forgets everything, quarantine included, and sends nothing any more until ``start(uploader:)``: the device has lost the identity
    /// under which it measured. Credentials go first, so that a kill in between leaves nothing that could be sent.
    ///
    /// - Returns: how many reports were pending.
    @discardableResult
    public func clear(reason: String) throws(QueueError) -> Int {
        defer { loop.post(.event(.registrationLost(reason: reason))) }
        let count = try store.clear()
        hub.tell(.cleared(reason: reason, reports: count))
        return count
    }

    // MARK: Tests

    /// A test begins, of whatever kind: nothing is sent until ``onTestFinished()``, by any process on this state directory. An upload under
    /// way is broken off at once and stays queued. Calls are counted, and each needs its counterpart.
    ///
    /// This call does not wait for the upload's last octet; its asynchronous twin does.
    public func onTestStarted() {
        if activity.begin() { loop.post(.event(.testsHere(true))) }
    }

    /// The same, and returns when no octet flows any more: at once where none did.
    public func onTestStarted() async {
        let begin: () -> Void = onTestStarted
        begin()
        guard !activity.isHeld else { return }
        // On a thread, because a test whose task is cancelled has a start too.
        let isSilent = await QueueThread.value("queue-silence") { [activity, settings] in
            let end = MonotonicInstant.now() + settings.silenceLimit
            while !activity.isHeld, .now() < end { usleep(500) }
            return activity.isHeld
        }
        if !isSilent { logger.error("a process that sends does not break off for this test", ("state", store.folder.path)) }
    }

    /// The test is over. When it was the last one, sending goes on.
    public func onTestFinished() {
        switch activity.end() {
        case true?: loop.post(.event(.testsHere(false)))
        case false?: break
        case nil: logger.warning("onTestFinished() without onTestStarted()")
        }
    }
}
