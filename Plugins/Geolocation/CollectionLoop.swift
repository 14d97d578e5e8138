internal import CLinux
internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import ProbeLog

/// One test's life with gpsd: connects, follows, reconnects. It holds no rules; it carries events to the values that do, and does what
/// they answer.
struct CollectionLoop<Trace: TraceWriter> {
    private let settings: GeolocationSettings
    private let timing: Timing
    private let session: CollectionSession
    private let trace: Trace
    private let connector: Connector
    private var selector: FixSelector
    private var reception: Reception
    private var waiter: Waiter<Trace>
    private var backOff: BackOff
    private var known: Set<String> = []

    /// More lines than that at once, and the fixes among them are settled before the next ones are read.
    private static var linesAtOnce: Int { 4096 }

    init(settings: GeolocationSettings, timing: Timing, trace: Trace, session: CollectionSession) {
        self.settings = settings
        self.timing = timing
        self.trace = trace
        self.session = session
        connector = Connector(host: settings.host, port: settings.port, timeout: timing.connect)
        selector = FixSelector(
            rule: FixRule(maximumError95: settings.maximumError95, acceptsSimulated: settings.acceptsSimulated),
            device: settings.device, timing: timing)
        reception = Reception(startedAt: session.startedAt, silence: timing.silence)
        waiter = Waiter(session: session, trace: trace, heartbeat: timing.heartbeat)
        backOff = BackOff(first: timing.firstBackOff, longest: timing.longestBackOff)
    }

    private var now: MonotonicInstant { session.clock.now() }

    mutating func run() {
        for (subject, source) in GeolocationFields.provenance { trace.provenance(subject, source) }
        while true {
            switch connector.connect(&waiter) {
            case .cancelled: return
            case .failed(let reason): apply(reception.lost(at: now, detail: reason))
            case .connected(let connection):
                guard let end = follow(connection) else {
                    perform(selector.flush(at: now))
                    apply(reception.finish(at: now))
                    return
                }
                if end.isLoss { apply(reception.lost(at: now, detail: end.reason)) }
            }
            let wait = backOff.wait(random: Double.random(in: 0...1))
            if waiter.wait(until: now + wait) == .cancelled { return }
        }
    }

    // MARK: One connection

    private struct End {
        let reason: String
        /// False where the connection is given up on suspicion, and the next attempt tells more.
        let isLoss: Bool
    }

    /// - Returns: how the connection ended, or nil: the test did.
    private mutating func follow(_ connection: GPSDConnection) -> End? {
        let connectedAt = now
        var link = LinkWatch(connectedAt: connectedAt, timing: timing)
        selector.connected()
        known = []
        defer { if now - connectedAt >= timing.goodConnection { backOff.reset() } }
        guard connection.watch(device: settings.device) else { return End(reason: "gpsd has closed the connection", isLoss: true) }
        while true {
            let wake = waiter.wait(readable: [connection.descriptor], until: deadline(link))
            if wake == .cancelled { return nil }
            var hasEnded = false
            if wake == .ready {
                hasEnded = drain(connection, &link)
                if Task.isCancelled { return nil }
            }
            let time = now
            perform(selector.settle(at: time))
            apply(reception.tick(at: time))
            if hasEnded { return ended("gpsd has closed the connection") }
            switch link.tick(at: time) {
            case .watchAgain:
                if !connection.watch(device: settings.device) { return ended("gpsd has closed the connection") }
            case .reconnect(let reason):
                perform(selector.flush(at: time))
                return End(reason: reason, isLoss: !link.isGreeted)
            case nil: break
            }
        }
    }

    private mutating func ended(_ reason: String) -> End {
        perform(selector.flush(at: now))
        return End(reason: reason, isLoss: true)
    }

    private func deadline(_ link: LinkWatch) -> MonotonicInstant {
        [selector.deadline, reception.deadline].compactMap { $0 }.reduce(link.deadline, min)
    }

    /// Reads what is there, always to its end: a client that leaves lines unread makes gpsd stop for everybody.
    ///
    /// - Returns: whether the connection has ended.
    private mutating func drain(_ connection: GPSDConnection, _ link: inout LinkWatch) -> Bool {
        for _ in 0..<Self.linesAtOnce {
            switch connection.read() {
            case .nothing: return false
            case .ended: return true
            case .unreadable: trace.rejected(Refusal.malformed.rawValue)
            case .line(let octets):
                guard let line = GPSDLine(octets: octets) else {
                    trace.rejected(Refusal.malformed.rawValue)
                    break
                }
                // For each line anew: one that was sent while the lines before it were read must not look as if it had come before it
                // was sent, because all later ones would look late against it.
                let instant = now
                if !link.isGreeted { apply(reception.connected(at: instant)) }
                link.heard(line, at: instant)
                take(line, at: instant, &link)
            }
            if Task.isCancelled { return false }
        }
        return false
    }

    private mutating func take(_ line: GPSDLine, at instant: MonotonicInstant, _ link: inout LinkWatch) {
        switch line {
        case .tpv(let tpv):
            let arrival = Arrival(
                instant: instant, wall: session.clock.wall(), isClockSynchronised: clinux_clock_synchronised() == 1)
            guard let refusal = selector.receive(tpv, at: arrival) else { return }
            // A fix from before the loss is recorded before the loss is told.
            if refusal == .noFix { perform(selector.settle(at: instant)) }
            refuse(refusal, at: instant)
        case .devices(let devices):
            known = Set(devices.compactMap(\.path))
            noteReceivers(at: instant, &link)
        case .device(let device):
            guard let path = device.path else { return }
            if device.isActive {
                known.insert(path)
            } else {
                known.remove(path)
                selector.removed(path)
                // Its last fix is recorded before its loss is told.
                perform(selector.settle(at: instant))
            }
            noteReceivers(at: instant, &link)
        case .error:
            // gpsd's answer to a request for a receiver that it does not have.
            guard settings.device != nil else { return }
            known = []
            noteReceivers(at: instant, &link)
        case .version(let release):
            let plain = (release ?? "").unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }.prefix(32)
            if !plain.isEmpty { trace.provenance("gpsd", "release \(String(String.UnicodeScalarView(plain)))") }
        case .watch, .other: return
        }
    }

    private mutating func noteReceivers(at instant: MonotonicInstant, _ link: inout LinkWatch) {
        let isPresent = settings.device.map(known.contains) ?? !known.isEmpty
        link.expectsReports = isPresent
        apply(reception.receivers(present: isPresent, at: instant))
    }

    // MARK: What the rules answer

    private mutating func refuse(_ refusal: Refusal, at instant: MonotonicInstant) {
        trace.rejected(refusal.rawValue)
        // What another receiver says is no news of the one that is followed.
        if refusal != .otherReceiver { apply(reception.refused(refusal, at: instant)) }
    }

    private mutating func perform(_ outcomes: [FixSelector.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .refused(let refusal): refuse(refusal, at: now)
            case .taken(let selection):
                apply(reception.taken(reportedAt: selection.arrival.instant, at: now))
                trace.record(FixFields.values(selection), at: selection.arrival.instant)
                // A fix from before a loss makes nothing available.
                if let obstacle = reception.obstacle { trace.unavailable(obstacle.state, detail: reception.detail) }
            }
        }
    }

    private mutating func apply(_ changes: [Reception.Change]) {
        for change in changes {
            switch change {
            case .ended(let obstacle, let instant):
                trace.gap(.ended(obstacle.gap, at: instant))
                log(obstacle, isOver: true)
            case .began(let obstacle, let instant, let detail):
                trace.gap(.began(obstacle.gap, at: instant))
                trace.unavailable(obstacle.state, detail: detail)
                log(obstacle, isOver: false)
            }
        }
        if !changes.isEmpty, reception.obstacle == nil { trace.available() }
        waiter.standing = reception.obstacle.map { ($0.state, reception.detail) } ?? waiter.standing.flatMap { reception.isUp ? nil : $0 }
    }

    /// Once for each change of state. The daemon's coming and going is for the administrator; a receiver's, which may change with every
    /// report, is not. No text of gpsd's and no value is ever logged.
    private func log(_ obstacle: Reception.Obstacle, isOver: Bool) {
        let reason = ("reason", obstacle.rawValue)
        switch (obstacle, isOver) {
        case (.daemonAway, false), (.noDevice, false): session.logger.info("no positions", reason)
        case (.daemonAway, true), (.noDevice, true): session.logger.info("positions may come again", reason)
        case (_, false): session.logger.debug("no positions", reason)
        case (_, true): session.logger.debug("positions may come again", reason)
        }
    }
}
