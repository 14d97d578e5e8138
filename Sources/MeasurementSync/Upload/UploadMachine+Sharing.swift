internal import MeasurementModel

/// What is shared with tests, with callers that wait, and with other processes.
extension UploadMachine {
    /// A caller of `sendPendingMeasurements()`.
    struct PendingSend: Sendable {
        /// Pending at the call, and neither sent nor failed since.
        var remaining: Set<QueuedName>
        var sent = 0
        /// When to give up waiting for another process; nil while this one sends.
        var giveUpAt: MonotonicInstant?
    }

    mutating func tests(_ hasTests: Bool) -> [UploadAction] {
        hasTestsHere = hasTests
        guard hasTests else {
            busyUntil = nil
            return []
        }
        return (inFlight == nil ? [] : end(.pause)) + failSends(.testRunning)
    }

    mutating func lineBusy(_ name: QueuedName, at now: MonotonicInstant) -> [UploadAction] {
        inFlight = nil
        abort = nil
        busyUntil = now + timing.lookAgain
        return pause() + failSends(.testRunning)
    }

    mutating func become(_ isUploader: Bool, at now: MonotonicInstant) -> [UploadAction] {
        guard isUploader else {
            self.isUploader = false
            let wait = sends.isEmpty ? timing.retryInterval : timing.askAgain
            tryUploaderAt = isConfigured ? now + wait : nil
            return []
        }
        guard !self.isUploader else { return [] }
        self.isUploader = true
        tryUploaderAt = nil
        isYieldWanted = false
        tries = [:]
        for id in sends.keys { sends[id]?.giveUpAt = nil }
        beginRound()
        return [.tell(.becameUploader(true))]
    }

    mutating func yield(at now: MonotonicInstant) -> [UploadAction] {
        isYieldWanted = false
        isUploader = false
        standBackUntil = now + timing.standBack
        // Nobody may want it after all.
        tryUploaderAt = isConfigured ? now + timing.standBack : nil
        return [.releaseLine, .yieldUploader, .tell(.becameUploader(false))]
    }

    mutating func woken(at now: MonotonicInstant) -> [UploadAction] {
        var actions: [UploadAction] = []
        if let overdue = overdueAt, overdue <= now {
            overdueAt = nil
            actions += end(.overdue)
        }
        for (id, send) in sends where send.giveUpAt.map({ $0 <= now }) ?? false {
            sends[id] = nil
            actions.append(.finish(id, .failure(.otherProcess)))
        }
        if let moment = tryUploaderAt, moment <= now {
            tryUploaderAt = now + (sends.isEmpty ? timing.retryInterval : timing.askAgain)
            actions += (sends.isEmpty ? [] : [.askForUploader]) + [.tryUploader]
        }
        return actions
    }

    // MARK: sendPendingMeasurements()

    mutating func send(_ id: Int) -> [UploadAction] {
        guard isConfigured else { return [.finish(id, .failure(.noServer))] }
        guard !hasTestsHere else { return [.finish(id, .failure(.testRunning))] }
        return [.probe(id)]
    }

    mutating func probed(_ id: Int, _ isTestRunning: Bool, at now: MonotonicInstant) -> [UploadAction] {
        guard !isTestRunning else { return [.finish(id, .failure(.testRunning))] }
        // What the server has asked to wait with has its answer already.
        guard !reports.isEmpty, holdUntil == nil else { return [.finish(id, .success(0))] }
        var send = PendingSend(remaining: Set(reports))
        if !isUploader {
            send.giveUpAt = now + timing.handOverLimit
            tryUploaderAt = now + timing.askAgain
        }
        sends[id] = send
        beginRound()
        return isUploader ? [] : [.askForUploader, .tryUploader]
    }

    mutating func settle(_ name: QueuedName, isSent: Bool) {
        for id in sends.keys where sends[id]?.remaining.remove(name) != nil && isSent { sends[id]?.sent += 1 }
    }

    mutating func finishedSends() -> [UploadAction] {
        var actions: [UploadAction] = []
        for (id, send) in sends where send.remaining.isEmpty {
            sends[id] = nil
            actions.append(.finish(id, .success(send.sent)))
        }
        return actions
    }

    mutating func failSends(_ error: QueueError) -> [UploadAction] {
        defer { sends = [:] }
        return sends.keys.map { .finish($0, .failure(error)) }
    }
}
