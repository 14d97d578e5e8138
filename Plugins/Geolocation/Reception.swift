internal import CollectorCore
internal import MeasurementModel

/// What stands between the collector and a position, as one state: it makes the trace's gaps and states out of what is seen. A value.
///
/// | gap | state | from | until |
/// |---|---|---|---|
/// | `gpsd_away` | `no_daemon` | the connection's end, or the test's start | gpsd speaks |
/// | `no_device` | `no_device` | gpsd says that it has no receiver (or not the configured one) | it has |
/// | `receiver_silent` | `receiver_silent` | the last report, once 5 s have passed | the next report |
/// | `no_fix` | `no_fix` | a report without a fix | a fix that is taken |
/// | `fix_refused` | `fix_refused` | the first of 5 s of reports whose fixes were all refused | a fix that is taken |
struct Reception: Sendable {
    enum Obstacle: String, Sendable, CaseIterable {
        case daemonAway = "gpsd_away"
        case noDevice = "no_device"
        case receiverSilent = "receiver_silent"
        case noFix = "no_fix"
        case fixRefused = "fix_refused"

        var gap: StateReason { StateReason(rawValue) }
        /// The collector's state while it lasts.
        var state: StateReason { self == .daemonAway ? .noDaemon : gap }
    }

    enum Change: Sendable, Hashable {
        case began(Obstacle, at: MonotonicInstant, detail: String?)
        case ended(Obstacle, at: MonotonicInstant)
    }

    private enum Link {
        /// Nothing is known yet.
        case starting
        case away(since: MonotonicInstant, detail: String?)
        case up
    }

    private(set) var obstacle: Obstacle?
    private(set) var detail: String?
    private var link = Link.starting
    private var began: MonotonicInstant
    private var noDeviceSince: MonotonicInstant?
    private var lastReport: MonotonicInstant
    private var noFixSince: MonotonicInstant?
    private var refusedSince: MonotonicInstant?
    private var lastRefusal: Refusal?
    private(set) var hasTaken = false
    private let silence: Duration

    init(startedAt: MonotonicInstant, silence: Duration) {
        began = startedAt
        lastReport = startedAt
        self.silence = silence
    }

    /// gpsd has spoken.
    mutating func connected(at now: MonotonicInstant) -> [Change] {
        // A reconnection after a silence is no news of the receiver: the silence goes on.
        if !isUp { (lastReport, noFixSince, refusedSince) = (now, nil, nil) }
        link = .up
        return update(at: now)
    }

    /// No connection, or the end of one.
    mutating func lost(at now: MonotonicInstant, detail: String) -> [Change] {
        switch link {
        // Before the first connection there was none from the start on.
        case .starting: link = .away(since: began, detail: detail)
        case .away(let since, _): link = .away(since: since, detail: detail)
        case .up: link = .away(since: now, detail: detail)
        }
        noDeviceSince = nil
        noFixSince = nil
        refusedSince = nil
        return update(at: now)
    }

    /// gpsd has a receiver that could be followed, or has not.
    mutating func receivers(present: Bool, at now: MonotonicInstant) -> [Change] {
        if present {
            if noDeviceSince != nil { lastReport = now }
            noDeviceSince = nil
        } else {
            noDeviceSince = noDeviceSince ?? now
            noFixSince = nil
            refusedSince = nil
        }
        return update(at: now)
    }

    /// A report of a receiver that is followed was not taken.
    mutating func refused(_ refusal: Refusal, at now: MonotonicInstant) -> [Change] {
        lastReport = now
        noDeviceSince = nil
        // What was so before a silence says nothing about the time after it.
        if obstacle == .receiverSilent || obstacle == .noDevice {
            noFixSince = nil
            refusedSince = nil
        }
        if refusal == .noFix {
            noFixSince = noFixSince ?? now
            refusedSince = nil
        } else {
            refusedSince = refusedSince ?? now
            lastRefusal = refusal
        }
        return update(at: now)
    }

    mutating func taken(reportedAt arrival: MonotonicInstant, at now: MonotonicInstant) -> [Change] {
        lastReport = max(lastReport, arrival)
        hasTaken = true
        refusedSince = nil
        // A loss that was reported after this fix still holds.
        if let since = noFixSince, since <= arrival { noFixSince = nil }
        if let since = noDeviceSince, since <= arrival { noDeviceSince = nil }
        return update(at: now, endedAt: arrival)
    }

    /// Whether gpsd speaks.
    var isUp: Bool { if case .up = link { true } else { false } }

    mutating func tick(at now: MonotonicInstant) -> [Change] { update(at: now) }

    /// The test ends. One that was too short to see anything must not look as if nothing had been missed.
    mutating func finish(at now: MonotonicInstant) -> [Change] {
        guard case .up = link, obstacle == nil, !hasTaken else { return [] }
        if let since = refusedSince { return turn(to: .fixRefused, from: since, detail: lastRefusal?.rawValue, endedAt: now) }
        return turn(to: .noFix, from: lastReport, detail: "the test ended before the first fix", endedAt: now)
    }

    /// When ``tick(at:)`` may change something.
    var deadline: MonotonicInstant? {
        // A silence, or the want of a receiver, ends by an event and never by time.
        guard case .up = link, noDeviceSince == nil, obstacle != .receiverSilent else { return nil }
        var candidates = [lastReport + silence]
        if obstacle != .fixRefused, let refusedSince { candidates.append(refusedSince + silence) }
        return candidates.min()
    }

    // MARK: From facts to the state

    private mutating func update(at now: MonotonicInstant, endedAt: MonotonicInstant? = nil) -> [Change] {
        let (next, since, detail) = assess(at: now)
        if next == .fixRefused { noFixSince = nil }
        return turn(to: next, from: since, detail: detail, endedAt: endedAt ?? now)
    }

    private func assess(at now: MonotonicInstant) -> (Obstacle?, MonotonicInstant, String?) {
        switch link {
        case .starting: return (nil, now, nil)
        case .away(let since, let detail): return (.daemonAway, since, detail)
        case .up: break
        }
        if let noDeviceSince { return (.noDevice, noDeviceSince, nil) }
        if now - lastReport >= silence { return (.receiverSilent, lastReport, nil) }
        if let refusedSince, now - refusedSince >= silence { return (.fixRefused, refusedSince, lastRefusal?.rawValue) }
        if let noFixSince { return (.noFix, noFixSince, nil) }
        return (nil, now, nil)
    }

    private mutating func turn(
        to next: Obstacle?, from since: MonotonicInstant, detail: String?, endedAt: MonotonicInstant
    ) -> [Change] {
        self.detail = detail
        guard next != obstacle else { return [] }
        var changes: [Change] = []
        // One state follows the other without a moment between them or in both.
        let from = obstacle == nil ? since : max(since, began)
        if let obstacle { changes.append(.ended(obstacle, at: next == nil ? max(began, endedAt) : from)) }
        if let next {
            changes.append(.began(next, at: from, detail: detail))
            began = from
        }
        obstacle = next
        return changes
    }
}
