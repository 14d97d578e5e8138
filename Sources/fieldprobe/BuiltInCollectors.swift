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

    /// The named ones of them, or all.
    ///
    /// - Throws: ``CommandFailure`` for a name that no collector has.
    static func enabled(_ configuration: Configuration, named names: [String]) throws -> [any Collector] {
        let all = all(configuration)
        for name in names { _ = try find(name, in: all) }
        return names.isEmpty ? enabled(configuration) : all.filter { names.contains($0.descriptor.name) }
    }

    static func find(_ name: String, in collectors: [any Collector]) throws -> any Collector {
        guard let collector = collectors.first(where: { $0.descriptor.name == name }) else {
            let known = collectors.map(\.descriptor.name).joined(separator: ", ")
            throw CommandFailure(.usage, "there is no collector '\(name)': there are \(known)")
        }
        return collector
    }
}
