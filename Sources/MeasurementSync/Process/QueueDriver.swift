internal import MeasurementModel

/// Carries out what ``UploadMachine`` wants, on a ground, and tells it what came of it. Whoever owns it calls it from one thread.
struct QueueDriver<Ground: QueueGround> {
    private(set) var machine: UploadMachine
    let ground: Ground
    /// Accepted by the server or to be cleared, and not deleted yet because the disk did not let us. They are not sent again.
    private var undeleted: Set<QueuedName> = []
    /// To be moved aside, and not moved yet for the same reason.
    private var unmoved: [QueuedName: (code: String, detail: String)] = [:]
    /// Removed by this process: a watch will tell of it, and that is no news.
    private var removed: Set<QueuedName> = []
    private var hasListed = true
    /// When to look at the folder again after it could not be read.
    private var listAgain: MonotonicInstant?

    init(ground: Ground, timing: UploadMachine.Timing = UploadMachine.Timing()) {
        self.ground = ground
        machine = UploadMachine(timing: timing)
    }

    /// When to call ``wake()``, if nothing happens before.
    var wakeAt: MonotonicInstant? { [machine.wake, listAgain].compactMap { $0 }.min() }

    mutating func wake() {
        if let moment = listAgain, moment <= ground.now() { scan() }
        handle(.woken)
    }

    /// Looks at the folder.
    mutating func scan() {
        do throws(QueueError) {
            var listing = try ground.list()
            for file in ground.setForeignAside(listing) {
                ground.count { $0.quarantined += 1 }
                ground.tell(.quarantined(file: file, code: "foreign", detail: "it was none of the queue's"))
            }
            listAgain = nil
            hasListed = true
            removed = []
            finishLeftovers(of: &listing.names)
            handle(.listed(listing.names))
        } catch {
            listAgain = ground.now() + machine.timing.retryInterval
            // Once: it may last for days.
            if hasListed { ground.tell(.trouble(error)) }
            hasListed = false
        }
    }

    /// What could not be deleted or moved before is not pending, and gets another try.
    private mutating func finishLeftovers(of names: inout [QueuedName]) {
        guard !undeleted.isEmpty || !unmoved.isEmpty else { return }
        undeleted.formIntersection(names)
        unmoved = unmoved.filter { names.contains($0.key) }
        let (late, aside) = (undeleted, unmoved)
        names.removeAll { late.contains($0) || aside[$0] != nil }
        for name in late { delete(name) }
        for (name, reason) in aside { setAside(name, reason.code, reason.detail) }
    }

    mutating func handle(_ event: UploadEvent) {
        var events: ArraySlice = [event]
        while let event = events.popFirst() {
            for action in machine.handle(event, at: ground.now()) {
                if let answer = carryOut(action) { events.append(answer) }
            }
        }
    }

    /// What the watch saw of this report is this process's own doing.
    mutating func isOwnRemoval(_ name: QueuedName) -> Bool { removed.remove(name) != nil }

    private mutating func carryOut(_ action: UploadAction) -> UploadEvent? {
        switch action {
        case .upload(let name): return upload(name)
        case .abort: ground.abortUpload()
        case .releaseLine: ground.releaseLine()
        case .remove(let name):
            ground.count { $0.sent += 1 }
            delete(name)
        case .quarantine(let name, let code, let detail): setAside(name, code, detail)
        case .clear(let reason): clear(reason)
        case .probe(let id): return .probed(id, isTestRunning: ground.isTestRunning())
        case .tryUploader: return .uploader(ground.tryUploader())
        case .yieldUploader: ground.yieldUploader()
        case .askForUploader: ground.askForUploader()
        case .finish(let id, let result): ground.finish(id, result)
        case .tell(let event): tell(event)
        }
        return nil
    }

    private func upload(_ name: QueuedName) -> UploadEvent {
        // Read before the line is taken: a test must not wait for a disk.
        switch ground.load(name) {
        case .gone: return .gone(name)
        case .unreadable(let code, let detail): return .unreadable(name, code: code, detail: detail)
        case .later(let error):
            let failure = UploadFailure(code: error.code.description, message: error.description, isServerWide: false)
            return .ended(name, .retry(after: nil, failure))
        case .body(let body):
            guard ground.takeLine() else { return .lineBusy(name) }
            ground.startUpload(name, body: body)
            return .started(name)
        }
    }

    private mutating func delete(_ name: QueuedName) {
        do throws(QueueError) {
            try ground.remove(name)
            undeleted.remove(name)
            removed.insert(name)
        } catch {
            if undeleted.insert(name).inserted { ground.tell(.trouble(error)) }
            listAgain = ground.now() + machine.timing.retryInterval
        }
    }

    private mutating func setAside(_ name: QueuedName, _ code: String, _ detail: String) {
        do throws(QueueError) {
            try ground.quarantine(name, code: code, detail: detail)
            unmoved[name] = nil
            removed.insert(name)
        } catch {
            if unmoved.updateValue((code, detail), forKey: name) == nil { ground.tell(.trouble(error)) }
            listAgain = ground.now() + machine.timing.retryInterval
        }
    }

    private mutating func clear(_ reason: String) {
        do throws(QueueError) {
            let reports = try ground.clear()
            if reports > 0 { ground.tell(.cleared(reason: reason, reports: reports)) }
            undeleted = []
            unmoved = [:]
        } catch {
            // What the disk does not let go of must not go out under another identity either.
            if let names = try? ground.list().names { undeleted.formUnion(names) }
            listAgain = ground.now() + machine.timing.retryInterval
            ground.tell(.trouble(error))
        }
    }

    private func tell(_ event: QueueEvent) {
        switch event {
        case .failed: ground.count { $0.retried += 1 }
        case .refused: ground.count { $0.refused += 1 }
        case .quarantined: ground.count { $0.quarantined += 1 }
        default: break
        }
        ground.tell(event)
    }
}
