internal import MeasurementModel

/// What becomes of the reports.
extension UploadMachine {
    mutating func configure() -> [UploadAction] {
        isConfigured = true
        holdUntil = nil
        tries = [:]
        beginRound()
        return isUploader ? [] : [.tryUploader]
    }

    /// Nothing is sent any more, not even what has been begun.
    mutating func lose(_ reason: String) -> [UploadAction] {
        isConfigured = false
        isPaused = false
        reports = []
        tries = [:]
        round = []
        nextRound = nil
        holdUntil = nil
        tryUploaderAt = nil
        let actions = inFlight == nil ? [] : end(.lost)
        return actions + [.clear(reason: reason)] + failSends(.registrationLost(reason))
    }

    mutating func take(_ names: [QueuedName], at now: MonotonicInstant) -> [UploadAction] {
        let known = Set(reports)
        let there = Set(names)
        reports = names
        round += names.filter { !known.contains($0) && $0 != inFlight }
        let vanished = known.subtracting(there)
        guard !vanished.isEmpty else { return [] }
        round = round.filter { !vanished.contains($0) }[...]
        var actions: [UploadAction] = []
        for name in vanished {
            tries[name] = nil
            // Its upload may still turn out to have been in time.
            if name == inFlight {
                actions += end(.vanished)
            } else {
                // What goes while another process sends has been sent by it.
                settle(name, isSent: !isUploader)
            }
        }
        if reports.isEmpty { nextRound = nil }
        return actions + finishedSends()
    }

    mutating func started(_ name: QueuedName, at now: MonotonicInstant) -> [UploadAction] {
        overdueAt = now + timing.uploadLimit
        guard isPaused else { return [] }
        isPaused = false
        return [.tell(.resumed)]
    }

    mutating func gone(_ name: QueuedName) -> [UploadAction] {
        leave(name)
        settle(name, isSent: false)
        return finishedSends()
    }

    mutating func unreadable(_ name: QueuedName, _ code: String, _ detail: String) -> [UploadAction] {
        leave(name)
        settle(name, isSent: false)
        return [.quarantine(name, code: code, detail: detail), .tell(.quarantined(file: name.file, code: code, detail: detail))]
            + finishedSends()
    }

    mutating func ended(_ name: QueuedName, _ outcome: UploadOutcome, at now: MonotonicInstant) -> [UploadAction] {
        guard inFlight == name else { return [] }
        let abort = abort
        switch outcome {
        case .accepted, .alreadyStored:
            leave(name)
            settle(name, isSent: true)
            return [.remove(name), .tell(.sent(id: name.id, wasStoredBefore: outcome == .alreadyStored))] + finishedSends()
        case .refusedForGood(let code, let detail):
            leave(name)
            settle(name, isSent: false)
            guard abort != .lost, abort != .vanished else { return finishedSends() }
            return [.quarantine(name, code: code, detail: detail), .tell(.refused(id: name.id, code: code, detail: detail))]
                + finishedSends()
        case .deviceDropped(let reason):
            inFlight = nil
            overdueAt = nil
            self.abort = nil
            return abort == .lost ? [] : lose(reason)
        case .retry(let after, let failure):
            switch abort {
            case .lost, .vanished:
                leave(name)
                settle(name, isSent: false)
                return finishedSends()
            case .pause, .reset:
                // Cut short by us, which is no failure: it is the first one when the line is free again.
                stay()
                return abort == .pause ? pause() : []
            case .overdue:
                let slow = UploadFailure(
                    code: "timed_out", message: "the upload took longer than \(timing.uploadLimit)", isServerWide: false)
                return failed(name, after, slow, at: now)
            case nil: return failed(name, after, failure, at: now)
            }
        }
    }

    private mutating func failed(
        _ name: QueuedName, _ after: Duration?, _ failure: UploadFailure, at now: MonotonicInstant
    ) -> [UploadAction] {
        stay()
        tries[name, default: 0] += 1
        round = round.filter { $0 != name }[...]
        settle(name, isSent: false)
        if let after { holdUntil = now + after }
        if failure.isServerWide || after != nil {
            // The others would only fail the same way: once is enough.
            for name in round { settle(name, isSent: false) }
            round = []
            nextRound = now + (after ?? timing.retryInterval)
        } else if nextRound == nil {
            nextRound = now + timing.retryInterval
        }
        return [.tell(.failed(id: name.id, failure))] + finishedSends()
    }

    /// The upload is over, the report is not.
    private mutating func stay() {
        inFlight = nil
        overdueAt = nil
        abort = nil
    }

    /// Upload and report are over.
    private mutating func leave(_ name: QueuedName) {
        stay()
        // In order, so that it is mostly the first one: a folder may hold thousands.
        if let index = reports.firstIndex(of: name) { reports.remove(at: index) }
        if round.first == name { round.removeFirst() } else { round = round.filter { $0 != name }[...] }
        tries[name] = nil
        if reports.isEmpty { nextRound = nil }
    }

    mutating func reset() -> [UploadAction] {
        tries = [:]
        holdUntil = nil
        beginRound()
        return inFlight == nil ? [] : end(.reset)
    }
}
