public import CollectorCore
internal import MeasurementModel

/// Records how the kernel sees the neighbour that the packets to the test's target go through: the gateway, or the target itself where it
/// is on the same link.
///
/// Nothing is sent and nothing is resolved: the kernel is asked what it knows (rtnetlink(7), linux/neighbour.h).
public struct NeighboursCollector: Collector {
    /// How often the state is asked for when no event comes: the kernel tells nobody when it begins to look for a neighbour.
    public var pollInterval: Duration = .seconds(10)
    /// Octets of the event socket's buffer; nil is the default. Tests make it small to lose events.
    var receiveBuffer: Int32?

    public init() {}

    public var descriptor: CollectorDescriptor {
        CollectorDescriptor(
            name: "neighbours", version: "1.0", trace: "neighbours_trace", fields: NeighbourFields.all,
            // Three missed polls: the thread was held up, and something may have been missed.
            maximumSilence: pollInterval * 3,
            about: "Neighbour that the packets to the test's target go through, as the kernel sees it")
    }

    public func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        try NeighbourWatch(self, trace: trace, session: session).run()
    }
}
