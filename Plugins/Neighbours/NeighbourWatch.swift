internal import CollectorCore
internal import MeasurementModel
internal import Netlink

/// One run of the collector: waits for events and the poll, asks, and hands over.
final class NeighbourWatch<Trace: TraceWriter> {
    private let trace: Trace
    private let session: CollectionSession
    private let monitor: NetworkMonitor
    private let questions: RouteQuestions
    private var schedule: CollectionSchedule
    private var watched: Set<IPAddress> = []
    private var lastDrain: MonotonicInstant
    /// Why nothing can be told at the moment.
    private var obstacle: StateReason?

    init(_ collector: NeighboursCollector, trace: Trace, session: CollectionSession) throws {
        self.trace = trace
        self.session = session
        // Subscribed before the first question, so that no change between the two is missed.
        monitor = try NetworkMonitor(of: [.path, .neighbours], watching: [], receiveBuffer: collector.receiveBuffer)
        questions = try RouteQuestions()
        lastDrain = session.clock.now()
        schedule = CollectionSchedule(pollInterval: collector.pollInterval, now: lastDrain)
    }

    /// Runs until the test has ended. A first snapshot is taken even if it has ended already.
    func run() throws {
        try collect()
        while !Task.isCancelled {
            let wake = session.wait(readable: [monitor.descriptor], until: schedule.next)
            if wake.isCancelled { return }
            // The target has become known.
            if wake.hasAttention { schedule.news(at: session.clock.now()) }
            if !wake.ready.isEmpty { try drain() }
            if schedule.isDue(at: session.clock.now()) { try collect() }
        }
    }

    /// Events only say that something changed. Where some were lost, the question that follows makes up for them.
    private func drain() throws {
        let now = session.clock.now()
        let drained = try monitor.drain()
        if drained.isOverrun {
            trace.gap(.passed(.eventLoss, from: lastDrain, to: now))
            trace.resynced()
        }
        lastDrain = now
        if drained.news > 0 || drained.isOverrun { schedule.news(at: now) }
    }

    private func collect() throws {
        let target = session.target.value
        let addresses = target.host == nil ? SessionTarget.internet : target.addresses
        var hops: [IPAddress.Family: NextHop] = [:]
        for family in IPAddress.Family.allCases {
            guard let address = addresses.first(where: { $0.family == family }) else { continue }
            hops[family] = try questions.nextHop(to: address)
        }
        try watch(Set(addresses).union(hops.values.map(\.address)))
        report(hops, isPending: target.isPending)
        schedule.collected(at: session.clock.now())
    }

    /// Events of other neighbours, and of routes to elsewhere, stay in the kernel.
    private func watch(_ addresses: Set<IPAddress>) throws {
        guard addresses != watched else { return }
        try monitor.watch(addresses)
        watched = addresses
        // What changed before the filter knew of it made no event.
        schedule.news(at: session.clock.now())
    }

    private func report(_ hops: [IPAddress.Family: NextHop], isPending: Bool) {
        let before = obstacle
        obstacle = hops.isEmpty ? (isPending ? "target_unresolved" : "no_path") : nil
        if let before, before != obstacle { trace.gap(.ended(before)) }
        if let obstacle {
            trace.gap(.began(obstacle))
            trace.unavailable(obstacle)
        } else {
            trace.provenance("neighbour", "next hop of RTM_GETROUTE, asked for with RTM_GETNEIGH")
            trace.record(NeighbourFields.values(of: hops))
        }
    }
}
