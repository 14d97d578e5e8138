internal import MeasurementModel

/// When which report is sent: a value with events in and actions out, that knows neither files nor sockets nor clocks.
///
/// Reports are tried in rounds, oldest first, and those that have failed before after the others: a report that always fails, in whatever
/// way, never keeps another one back. A failure that is the server's or the network's ends the round for all.
struct UploadMachine: Sendable {
    struct Timing: Sendable {
        /// Between a failure and the next round.
        var retryInterval: Duration = .seconds(60)
        /// Time for a test to take the line after it has asked for it.
        var grace: Duration = .milliseconds(250)
        /// How often to look whether a test of another process has ended, should the kernel not have told.
        var lookAgain: Duration = .seconds(2)
        /// An upload that takes longer has failed.
        var uploadLimit: Duration = .seconds(600)
        /// How long to leave another process alone that wanted to send.
        var standBack: Duration = .seconds(1)
        /// How often to ask for the right to send while somebody waits, and for how long.
        var askAgain: Duration = .milliseconds(100)
        var handOverLimit: Duration = .seconds(120)
    }

    enum Abort: Sendable { case pause, vanished, overdue, reset, lost }

    let timing: Timing
    var isConfigured = false
    var isUploader = false
    var hasTestsHere = false
    var isPaused = false
    var isYieldWanted = false

    /// Everything pending, in the order of queueing.
    var reports: [QueuedName] = []
    /// Failures since this process began to send.
    var tries: [QueuedName: Int] = [:]
    /// What is still to be tried in this round, the next one first; the one in flight stays in it until it has ended.
    var round: ArraySlice<QueuedName> = []
    var inFlight: QueuedName?
    var abort: Abort?
    var sends: [Int: PendingSend] = [:]

    // Moments; nil where there is nothing to wait for.
    var nextRound: MonotonicInstant?
    /// The server has asked not to come before.
    var holdUntil: MonotonicInstant?
    var graceUntil: MonotonicInstant?
    var busyUntil: MonotonicInstant?
    var overdueAt: MonotonicInstant?
    var tryUploaderAt: MonotonicInstant?
    var standBackUntil: MonotonicInstant?

    init(timing: Timing = Timing()) { self.timing = timing }

    mutating func handle(_ event: UploadEvent, at now: MonotonicInstant) -> [UploadAction] {
        expire(at: now)
        var actions = react(to: event, at: now)
        actions += proceed(at: now)
        return actions
    }

    /// When to tell `woken`, if nothing else happens before.
    var wake: MonotonicInstant? {
        var moments = [nextRound, overdueAt, tryUploaderAt] + sends.values.map(\.giveUpAt)
        if !round.isEmpty, inFlight == nil, isUploader { moments += [graceUntil, busyUntil, holdUntil] }
        return moments.compactMap { $0 }.min()
    }

    private mutating func expire(at now: MonotonicInstant) {
        func isOver(_ moment: MonotonicInstant?) -> Bool { moment.map { $0 <= now } ?? false }
        if isOver(graceUntil) { graceUntil = nil }
        if isOver(busyUntil) { busyUntil = nil }
        if isOver(holdUntil) { holdUntil = nil }
        if isOver(standBackUntil) { standBackUntil = nil }
        if isOver(nextRound) { beginRound() }
    }

    private mutating func react(to event: UploadEvent, at now: MonotonicInstant) -> [UploadAction] {
        switch event {
        case .configured: return configure()
        case .registrationLost(let reason): return lose(reason)
        case .stopped:
            isConfigured = false
            tryUploaderAt = nil
            return (inFlight == nil ? [] : end(.pause)) + failSends(.closed)
        case .uploader(let isUploader): return become(isUploader, at: now)
        case .listed(let names): return take(names, at: now)
        case .testsHere(let hasTests): return tests(hasTests)
        case .lineWanted:
            graceUntil = now + timing.grace
            return inFlight == nil ? [] : end(.pause)
        case .lineMayBeFree: busyUntil = nil
        case .uploaderWanted: isYieldWanted = isUploader
        case .uploaderMayBeFree: if isConfigured, !isUploader, standBackUntil == nil { return [.tryUploader] }
        case .send(let id): return send(id)
        case .probed(let id, let isTestRunning): return probed(id, isTestRunning, at: now)
        case .reset: return reset()
        case .woken: return woken(at: now)
        case .started(let name): return started(name, at: now)
        case .lineBusy(let name): return lineBusy(name, at: now)
        case .gone(let name): return gone(name)
        case .unreadable(let name, let code, let detail): return unreadable(name, code, detail)
        case .ended(let name, let outcome): return ended(name, outcome, at: now)
        }
        return []
    }

    /// The next upload, if there is one and nothing forbids it.
    private mutating func proceed(at now: MonotonicInstant) -> [UploadAction] {
        guard inFlight == nil else { return [] }
        if isYieldWanted, sends.isEmpty { return yield(at: now) }
        guard isConfigured, isUploader, let next = round.first else { return [.releaseLine] }
        if hasTestsHere || graceUntil != nil || busyUntil != nil { return [.releaseLine] + pause() }
        guard holdUntil == nil else { return [.releaseLine] }
        inFlight = next
        return [.upload(next)]
    }

    mutating func beginRound() {
        nextRound = nil
        let ordered = reports.sorted { left, right in
            if left == inFlight || right == inFlight { return left == inFlight && right != inFlight }
            let (first, second) = (tries[left] ?? 0, tries[right] ?? 0)
            return first != second ? first < second : left < right
        }
        round = ordered[...]
    }

    mutating func end(_ reason: Abort) -> [UploadAction] {
        let isFirst = abort == nil
        // What happens to the report counts more than why its upload was cut short first.
        if abort == nil || reason == .lost || reason == .vanished { abort = reason }
        return isFirst ? [.abort] : []
    }

    mutating func pause() -> [UploadAction] {
        guard !isPaused else { return [] }
        isPaused = true
        return [.tell(.paused)]
    }
}
