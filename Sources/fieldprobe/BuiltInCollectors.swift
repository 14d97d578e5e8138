internal import CollectorCore
internal import ConnectionDetail
internal import Geolocation
internal import Neighbours

/// The collectors that this program has: the one place that lists them, and makes them from the configuration.
enum BuiltInCollectors {
    /// Every collector, also those that the configuration turns off.
    static func all(_ configuration: Configuration) -> [any Collector] {
        [
            ConnectionDetailCollector(settings: ConnectionDetailConfiguration(configuration).settings),
            GeolocationCollector(settings: GeolocationConfiguration(configuration).settings),
            NeighboursConfiguration(configuration).collector,
        ]
    }

    /// Those that run. A collector runs unless its section says `enabled = no`.
    static func enabled(_ configuration: Configuration) -> [any Collector] {
        all(configuration).filter { collector in
            let section = "collector.\(collector.descriptor.name)"
            return ConfigurationTable.section(section) == nil || configuration.yesNo(section, "enabled")
        }
    }
}
