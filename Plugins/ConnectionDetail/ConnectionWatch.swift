internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import Netlink
internal import ProbeLog

/// One run of the collector: waits for events and the poll, asks, and hands over.
final class ConnectionWatch<Trace: TraceWriter> {
    private let settings: ConnectionDetailSettings
    private let trace: Trace
    private let session: CollectionSession
    private let monitor: NetworkMonitor
    private let wirelessMonitor: WirelessMonitor?
    private let reader: PathReader
    private var schedule: CollectionSchedule
    private var watched: Set<IPAddress> = []
    private var lastDrain: MonotonicInstant
    private var unsettledInARow = 0

    /// Answers that do not fit together are asked for again at once, this many times.
    private static var maximumTries: Int { 4 }
    private static var maximumUnsettled: Int { 10 }
    private static var unsettled: StateReason { "unsettled" }
    /// The target's name has no addresses so far: the snapshots are of the path to the internet.
    private static var targetUnresolved: StateReason { "target_unresolved" }
    private static var patience: Duration { .seconds(2) }

    init(settings: ConnectionDetailSettings, trace: Trace, session: CollectionSession) throws {
        self.settings = settings
        self.trace = trace
        self.session = session
        // Subscribed before the first question, so that no change between the two is missed.
        monitor = try NetworkMonitor(watching: [], receiveBuffer: settings.receiveBuffer)
        wirelessMonitor = try WirelessMonitor()
        reader = try PathReader(settings: settings, mayLocate: session.permissions.allows(.preciseLocation))
        lastDrain = session.clock.now()
        schedule = CollectionSchedule(pollInterval: settings.pollInterval, now: lastDrain)
        trace.provenance("wifi", reader.hasWireless ? "nl80211" : "not available: no nl80211 in this kernel")
    }

    /// Runs until the test has ended. A first snapshot is taken even if it has ended already.
    func run() throws {
        awaitTarget()
        try watchTarget()
        try collect()
        while !Task.isCancelled {
            let descriptors = [monitor.descriptor, wirelessMonitor?.descriptor, reader.modemManager.descriptor].compactMap { $0 }
            let wake = session.wait(readable: descriptors, until: schedule.next)
            if wake.isCancelled { return }
            if wake.hasAttention { try watchTarget() }
            if !wake.ready.isEmpty { try drain() }
            if schedule.isDue(at: session.clock.now()) { try collect() }
        }
    }

    /// A name is not resolved yet: for a moment its addresses are waited for, because the path to anything else is not what was asked for.
    private func awaitTarget() {
        let end = session.clock.now() + Self.patience
        while isTargetPending, session.clock.now() < end {
            if session.wait(until: end).isCancelled { return }
        }
    }

    private var isTargetPending: Bool { session.target.value.isPending }

    private var targets: [IPAddress] {
        let addresses = session.target.value.addresses
        return addresses.isEmpty ? SessionTarget.internet : addresses
    }

    /// The target may become known while the test runs, and tunnels come and go. The socket filter follows them.
    private func watchTarget() throws {
        trace.gap(isTargetPending ? .began(Self.targetUnresolved) : .ended(Self.targetUnresolved))
        let question = session.target.value.addresses.isEmpty ? "the internet" : "the target"
        trace.provenance("path", "route lookup for \(question), RTM_GETROUTE")
        let wanted = Set(targets).union(settings.tunnelPeers.values).union(reader.transports)
        guard wanted != watched else { return }
        try monitor.watch(wanted)
        watched = wanted
        schedule.news(at: session.clock.now())
    }

    /// Reads all events, and tells whether there was news.
    @discardableResult
    private func drain() throws -> Bool {
        let now = session.clock.now()
        var drained = try monitor.drain()
        if let wireless = try wirelessMonitor?.drain() {
            drained.news += wireless.news
            drained.isOverrun = drained.isOverrun || wireless.isOverrun
        }
        if reader.modemManager.drain() { drained.news += 1 }
        if drained.isOverrun {
            trace.gap(.passed(.eventLoss, from: lastDrain, to: now))
            trace.resynced()
        }
        lastDrain = now
        let isNews = drained.news > 0 || drained.isOverrun
        if isNews { schedule.news(at: now) }
        return isNews
    }

    private func collect() throws {
        if try tryToCollect() {
            unsettledInARow = 0
        } else {
            unsettledInARow += 1
            trace.gap(.began(Self.unsettled))
            // Soon again, but what stays unsettled waits for the next event or poll.
            if unsettledInARow < Self.maximumUnsettled { schedule.news(at: session.clock.now()) }
        }
        schedule.collected(at: session.clock.now())
    }

    /// Whether answers that fit together were handed over.
    private func tryToCollect() throws -> Bool {
        for attempt in 1...Self.maximumTries {
            do {
                let facts = try reader.read(targets, now: session.clock.now(), believing: attempt == Self.maximumTries)
                // An event that came meanwhile means that the answers may be of different moments. In a storm the last ones have to do.
                if try drain(), attempt < Self.maximumTries { continue }
                record(facts)
                try watchTarget()
                return true
            } catch is PathReader.Unsettled {
                continue
            } catch let error as NetlinkError where error.isPassing {
                continue
            }
        }
        return false
    }

    private func record(_ facts: PathFacts) {
        trace.gap(.ended(Self.unsettled))
        if let stack = facts.stack { trace.provenance("type", stack.source) }
        if let metered = facts.metered { trace.provenance("is_connection_expensive", metered.source) }
        trace.provenance("cellular", reader.modemManager.isRunning ? "ModemManager" : "not available: no ModemManager")
        trace.record(facts.fields)
    }
}

extension NetlinkError {
    /// A dump that changes interrupt again and again, or an answer that did not fit a full buffer: the next question may be answered.
    fileprivate var isPassing: Bool { [EINTR, ENOBUFS, EBUSY, EAGAIN].contains(errno) }
}
