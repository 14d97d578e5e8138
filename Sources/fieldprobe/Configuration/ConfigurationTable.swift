/// One key of the configuration. Parsing, checking, `--help` and docs/configuration.md follow this table.
struct ConfigurationKey: Sendable {
    /// `purpose.KEY` stands for every section that begins with `purpose.`.
    let section: String
    let name: String
    let value: ConfigurationValue
    /// Used when the key is not set; nil leaves the matter open.
    let fallback: String?
    let about: String

    init(_ section: String, _ name: String, _ value: ConfigurationValue, default fallback: String?, _ about: String) {
        self.section = section
        self.name = name
        self.value = value
        self.fallback = fallback
        self.about = about
    }
}

enum ConfigurationTable {
    static let keys: [ConfigurationKey] = [
        ConfigurationKey("fieldprobe", "api-endpoint", .url, default: nil, "Server that reports are sent to"),
        ConfigurationKey(
            "fieldprobe", "state-directory", .path, default: "/var/lib/fieldprobe", "Folder for what has to outlive a restart"),
        ConfigurationKey(
            "fieldprobe", "ca-file", .path, default: nil, "Trust the certificates in this file for the server, not the system's"),
        ConfigurationKey("fieldprobe", "proxy", .url, default: nil, "Proxy to the server (default: the environment's)"),
        ConfigurationKey(
            "fieldprobe", "allow-plain-http", .yesNo, default: "no", "Send credentials without encryption to other machines too"),
        ConfigurationKey(
            "fieldprobe", "collectors-directory", .path, default: "/usr/lib/fieldprobe/collectors",
            "Folder with collectors that are programs or libraries"),
        ConfigurationKey(
            "fieldprobe", "collectors-configuration", .path, default: "/etc/fieldprobe/collectors.d",
            "Folder with their configurations, NAME.conf"),
        ConfigurationKey("permissions", "precise-location", .yesNo, default: "no", "Collectors may see where the device is"),
        ConfigurationKey("permissions", "wifi-identity", .yesNo, default: "no", "Collectors may see SSID and BSSID of the Wi-Fi network"),
        ConfigurationKey("purpose.KEY", "precise-location", .yesNo, default: "no", "A run for this purpose may see where the device is"),
        ConfigurationKey("purpose.KEY", "wifi-identity", .yesNo, default: "no", "A run for this purpose may see SSID and BSSID"),
        ConfigurationKey("purpose.KEY", "text", .text, default: nil, "What the purpose is, in a sentence; it is required"),
        ConfigurationKey("collector.connection-detail", "enabled", .yesNo, default: "yes", "Record the network connection"),
        ConfigurationKey(
            "collector.connection-detail", "target", .host, default: nil, "Where the path is looked up to; a test's own target wins"),
        ConfigurationKey(
            "collector.connection-detail", "poll-interval", .duration, default: "10s", "How often to look for what has no event"),
        ConfigurationKey(
            "collector.connection-detail", "metered-interfaces", .interfaces, default: nil, "Interfaces whose traffic costs money"),
        ConfigurationKey(
            "collector.connection-detail", "tunnel-peers", .peers, default: nil, "Where a tunnel's packets go, to find what carries it"),
        ConfigurationKey("collector.geolocation", "enabled", .yesNo, default: "yes", "Record the position"),
        ConfigurationKey("collector.geolocation", "gpsd", .endpoint, default: "127.0.0.1:2947", "Where gpsd listens"),
        ConfigurationKey("collector.geolocation", "device", .path, default: nil, "The one receiver of gpsd's to listen to"),
        ConfigurationKey(
            "collector.geolocation", "max-error-95", .number(0.1...10_000), default: "100",
            "Metres of error (95 %) up to which a fix is precise"),
        ConfigurationKey(
            "collector.geolocation", "min-distance", .number(0...100_000), default: "1", "Metres to move before a new fix is recorded"),
        ConfigurationKey("collector.neighbours", "enabled", .yesNo, default: "no", "Record how the kernel sees the next hop"),
        ConfigurationKey(
            "collector.neighbours", "poll-interval", .duration, default: "10s", "How often to look for what has no event"),
        ConfigurationKey("queue", "limit", .integer(1...10_000), default: "50", "Reports that are kept until they are sent"),
        ConfigurationKey("queue", "retry-interval", .duration, default: "60s", "Time between two tries to send"),
    ]

    /// The table's name for a section of the file; nil for an unknown one.
    static func section(_ name: String) -> String? {
        if keys.contains(where: { $0.section == name }), name != "purpose.KEY" { return name }
        guard name.hasPrefix("purpose.") else { return nil }
        let key = name.dropFirst("purpose.".count)
        let isWord =
            !key.isEmpty
            && key.utf8.allSatisfy { octet in
                octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_") || (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet)
                    || (0x61...0x7A).contains(octet)
            }
        return isWord ? "purpose.KEY" : nil
    }

    static func key(_ section: String, _ name: String) -> ConfigurationKey? {
        guard let section = Self.section(section) else { return nil }
        return keys.first { $0.section == section && $0.name == name }
    }

    static var sections: [String] {
        var sections: [String] = []
        for key in keys where !sections.contains(key.section) { sections.append(key.section) }
        return sections
    }
}
