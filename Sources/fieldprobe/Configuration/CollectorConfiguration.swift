internal import ConnectionDetail
internal import Geolocation
internal import MeasurementModel
internal import Neighbours

/// What the configuration says to the connection-detail collector.
struct ConnectionDetailConfiguration: Sendable {
    /// What the path is looked up to where a test has no target of its own.
    var target: String?
    var pollInterval: Duration
    var meteredInterfaces: [String]
    var tunnelPeers: [String: IPAddress]

    init(_ configuration: Configuration) {
        let section = "collector.connection-detail"
        target = configuration.text(section, "target")
        pollInterval = configuration.text(section, "poll-interval").flatMap(ConfigurationValue.duration) ?? .seconds(10)
        meteredInterfaces = configuration.text(section, "metered-interfaces").map(ConfigurationValue.words) ?? []
        let peers = configuration.text(section, "tunnel-peers").flatMap(ConfigurationValue.peers) ?? []
        tunnelPeers = Dictionary(peers.map { ($0.interface, $0.peer) }) { $1 }
    }

    var settings: ConnectionDetailSettings {
        var settings = ConnectionDetailSettings()
        settings.pollInterval = pollInterval
        settings.meteredInterfaces = Set(meteredInterfaces)
        settings.tunnelPeers = tunnelPeers
        return settings
    }
}

/// What the configuration says to the geolocation collector.
struct GeolocationConfiguration: Sendable {
    var gpsdHost: String
    var gpsdPort: UInt16
    /// The one receiver to listen to; nil for all.
    var device: String?
    /// Metres.
    var maximumError95: Double
    /// Metres.
    var minimumDistance: Double

    init(_ configuration: Configuration) {
        let section = "collector.geolocation"
        let gpsd = configuration.text(section, "gpsd").flatMap(ConfigurationValue.endpoint) ?? ("127.0.0.1", 2947)
        gpsdHost = gpsd.host
        gpsdPort = gpsd.port
        device = configuration.text(section, "device")
        maximumError95 = configuration.text(section, "max-error-95").flatMap(Double.init) ?? 100
        minimumDistance = configuration.text(section, "min-distance").flatMap(Double.init) ?? 1
    }

    var settings: GeolocationSettings {
        GeolocationSettings(
            host: gpsdHost, port: String(gpsdPort), device: device, maximumError95: maximumError95, minimumDistance: minimumDistance)
    }
}

/// What the configuration says to the neighbours collector.
struct NeighboursConfiguration: Sendable {
    var pollInterval: Duration

    init(_ configuration: Configuration) {
        pollInterval = configuration.text("collector.neighbours", "poll-interval").flatMap(ConfigurationValue.duration) ?? .seconds(10)
    }

    var collector: NeighboursCollector {
        var collector = NeighboursCollector()
        collector.pollInterval = pollInterval
        return collector
    }
}
