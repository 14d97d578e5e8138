internal import MeasurementModel

/// Takes gpsd's reports and gives the fixes to record: one for each moment of one receiver. A value: no clock and no socket inside.
struct FixSelector: Sendable {
    /// A fix that is to be recorded.
    struct Selection: Sendable, Hashable {
        let fix: Fix
        /// When the first report about this moment came; without a receiver's time, when this report came.
        let arrival: Arrival
        /// Nil where the report has no time.
        let isTimeTrusted: Bool?
        /// Whether the receiver can know UTC by now, and not only GPS time: up to 18 s apart.
        let isUTCVerified: Bool
    }

    enum Outcome: Sendable, Hashable {
        case taken(Selection)
        case refused(Refusal)
    }

    /// The reports about one moment so far.
    private struct Epoch {
        var fix: Fix
        var arrival: Arrival
        let openedAt: MonotonicInstant
        let receiver: String
        var time: Timestamp?
        var base: Int
        var reports = 1
    }

    private struct Receiver {
        var clock = ReceiverClock()
        /// When it last gave a fix that was taken, or was first followed.
        var lastFix: MonotonicInstant
        var consecutive3D = 0
        /// Moments in a row about which it gave one report only, and how full the last one was.
        var singleReports = 0
        var fullness = 0

        /// Whether a report is all that this receiver has to say about its moment, by its habit so far.
        func completes(_ tpv: TPV, after habit: Int) -> Bool {
            tpv.time != nil && singleReports >= habit && tpv.fullness >= fullness
        }
    }

    private let rule: FixRule
    private let pinned: String?
    private let timing: Timing
    private var receivers: [String: Receiver] = [:]
    private var followed: String?
    private var open: Epoch?
    /// Complete epochs of one draining of the socket: whether one was overtaken is known at its end only.
    private var complete: [Epoch] = []

    /// - Parameter device: the one receiver to follow; nil follows the first that has a precise fix.
    init(rule: FixRule, device: String?, timing: Timing = Timing()) {
        self.rule = rule
        self.timing = timing
        pinned = device
    }

    /// When ``settle(at:)`` is due.
    var deadline: MonotonicInstant? { open.map { $0.openedAt + timing.settle } }

    /// Takes a report in.
    ///
    /// - Returns: why it is refused, or nil: it is, or became part of, an epoch that ``settle(at:)`` will give.
    mutating func receive(_ tpv: TPV, at arrival: Arrival) -> Refusal? {
        // A report without a device is nobody's; gpsd always names one.
        let receiver = tpv.device ?? ""
        guard isRelevant(receiver, at: arrival.instant) else { return .otherReceiver }
        switch rule.judge(tpv) {
        case .failure(let refusal):
            // What came before the loss was a fix when it came; nothing after it is merged into it.
            if refusal == .noFix {
                closeOpen()
                receivers[receiver]?.clock.lostFix(tpv.time, at: arrival.instant, within: timing.maximumLag)
            }
            return refusal
        case .success(let fix):
            return take(fix, of: receiver, at: arrival)
        }
    }

    /// Gives what is ready. Called after each draining of the socket, and at ``deadline``.
    mutating func settle(at now: MonotonicInstant) -> [Outcome] {
        if let open, now >= open.openedAt + timing.settle { closeOpen() }
        defer { complete = [] }
        let newest = open?.receiver ?? complete.last?.receiver
        return complete.enumerated().map { index, epoch in
            let isOvertaken = (index < complete.count - 1 || open != nil) && epoch.receiver == newest
            return conclude(epoch, isOvertaken: isOvertaken)
        }
    }

    /// Gives everything at once: the test ends.
    mutating func flush(at now: MonotonicInstant) -> [Outcome] {
        closeOpen()
        return settle(at: now)
    }

    /// A receiver is gone for certain: another one may be followed at once.
    mutating func removed(_ receiver: String) {
        if open?.receiver == receiver { closeOpen() }
        if followed == receiver { followed = nil }
    }

    /// A new connection: reports that were under way are lost, and so is what they would have been late against.
    mutating func connected() {
        for receiver in receivers.keys { receivers[receiver]?.clock.forgetLags() }
    }

    // MARK: Receivers

    private func isRelevant(_ receiver: String, at now: MonotonicInstant) -> Bool {
        if let pinned { return receiver == pinned }
        guard let followed, followed != receiver, let last = receivers[followed]?.lastFix else { return true }
        return now - last > timing.receiverLoyalty
    }

    private mutating func follow(_ receiver: String, at now: MonotonicInstant) {
        guard followed != receiver || receivers[receiver] == nil else { return }
        closeOpen()
        // Bounded, because a hostile gpsd makes names up.
        if receivers.count >= 64 { receivers = [:] }
        receivers[receiver, default: Receiver(lastFix: now)].lastFix = now
        followed = receiver
    }

    // MARK: Epochs

    private mutating func take(_ fix: Fix, of receiver: String, at arrival: Arrival) -> Refusal? {
        // The epoch has to be closed by time, not only by the next report: a stray one long after must not join it.
        if let open, arrival.instant >= open.openedAt + timing.settle { closeOpen() }
        if let open, open.receiver == receiver, open.time == nil || fix.tpv.time == nil || open.time == fix.tpv.time {
            return join(fix, open, at: arrival)
        }
        var clock = receivers[receiver]?.clock ?? ReceiverClock()
        let refusal = fix.tpv.time.flatMap { clock.admit($0, at: arrival.instant) }
        if refusal == nil {
            closeOpen()
            follow(receiver, at: arrival.instant)
            open = Epoch(
                fix: fix, arrival: arrival, openedAt: arrival.instant, receiver: receiver, time: fix.tpv.time, base: clock.base)
        }
        // Also after a refusal: the clock counts how long a step back lasts.
        if receivers[receiver] != nil { receivers[receiver]?.clock = clock }
        // More about a moment that was thought complete: the habit has changed, and is waited for again.
        if refusal == .repeated { receivers[receiver]?.singleReports = 0 }
        if refusal == nil, receivers[receiver]?.completes(fix.tpv, after: timing.habit) == true { closeOpen() }
        return refusal
    }

    private mutating func join(_ fix: Fix, _ epoch: Epoch, at arrival: Arrival) -> Refusal? {
        var epoch = epoch
        epoch.reports += 1
        if epoch.time == nil, let time = fix.tpv.time {
            if let refusal = receivers[epoch.receiver]?.clock.admit(time, at: arrival.instant) { return refusal }
            epoch.time = time
            epoch.base = receivers[epoch.receiver]?.clock.base ?? 0
        }
        if fix.tpv.fullness >= epoch.fix.tpv.fullness {
            epoch.fix = fix
            if epoch.time == nil { epoch.arrival = arrival }
        }
        open = epoch
        return nil
    }

    private mutating func closeOpen() {
        if let open { complete.append(open) }
        open = nil
    }

    private mutating func conclude(_ epoch: Epoch, isOvertaken: Bool) -> Outcome {
        guard var receiver = receivers[epoch.receiver] else { return .refused(.otherReceiver) }
        if let time = epoch.time, let lag = receiver.clock.lag(of: time, at: epoch.arrival.instant, base: epoch.base),
            lag > (isOvertaken ? timing.maximumLagOvertaken : timing.maximumLag)
        {
            return .refused(.late)
        }
        receiver.lastFix = max(receiver.lastFix, epoch.arrival.instant)
        receiver.consecutive3D = epoch.fix.isThreeDimensional ? receiver.consecutive3D + 1 : 0
        receiver.singleReports = epoch.reports == 1 ? receiver.singleReports + 1 : 0
        receiver.fullness = epoch.fix.tpv.fullness
        receivers[epoch.receiver] = receiver
        let time = epoch.fix.tpv.time
        let trusted = time.map { receiver.clock.isTrusted && ReceiverTime.isPlausible($0, wall: epoch.arrival.wall) }
        return .taken(
            Selection(
                fix: epoch.fix, arrival: epoch.arrival, isTimeTrusted: trusted,
                isUTCVerified: epoch.fix.tpv.leapSeconds != nil || receiver.consecutive3D >= 3))
    }
}
