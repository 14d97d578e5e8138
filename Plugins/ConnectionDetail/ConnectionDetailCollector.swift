public import CollectorCore
internal import MeasurementModel

/// Records over which path the kernel reaches the test's target: active interface and its type, addresses, gateway, Wi-Fi association,
/// what lies below a tunnel.
///
/// The kernel is asked, never mirrored: multicast events and a poll only say when. Sources: rtnetlink(7), linux/nl80211.h, and
/// NetworkManager over D-Bus for what is metered.
public struct ConnectionDetailCollector: Collector {
    public let settings: ConnectionDetailSettings

    public init(settings: ConnectionDetailSettings = ConnectionDetailSettings()) { self.settings = settings }

    public var descriptor: CollectorDescriptor {
        CollectorDescriptor(
            name: "connection-detail", version: "1.0", trace: "connection_detail_trace", fields: ConnectionFields.all,
            // Three missed polls: the thread was held up, and something may have been missed.
            maximumSilence: settings.pollInterval * 3,
            about: "Path to the test's target: interface, type, addresses, gateway, Wi-Fi, tunnel and what is below it")
    }

    public func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        try ConnectionWatch(settings: settings, trace: trace, session: session).run()
    }
}
