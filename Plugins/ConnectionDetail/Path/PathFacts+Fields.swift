internal import MeasurementModel
internal import Netlink

/// From facts to field values: pure, and tested without a kernel.
extension PathFacts {
    var fields: [String: FieldValue] {
        var values = pathFields
        // A modem is worth knowing of also while something else is active.
        modem?.add(to: &values)
        return values
    }

    private var pathFields: [String: FieldValue] {
        guard let active else {
            return ["type": .text(InterfaceType.none.rawValue), "is_internet_reachable": .bool(false)]
        }
        var values: [String: FieldValue] = [
            "type": .text((stack?.type ?? .other).rawValue),
            "is_internet_reachable": .bool(ipv4?.isUsable ?? false || ipv6?.isUsable ?? false),
            "is_connection_expensive": .bool(metered?.isMetered ?? false),
        ]
        if !active.link.name.isEmpty { values["interface"] = .text(active.link.name) }
        if let mtu = active.link.mtu { values["mtu"] = .integer(mtu) }
        if let address = active.usableAddress {
            values["ip_address"] = .text(address.description)
            if let entry = active.entry {
                values["prefix_length"] = .integer(entry.prefixLength)
                // A point-to-point address has its peer's network.
                values["subnet"] = .text("\(entry.peer.network(prefixLength: entry.prefixLength))/\(entry.prefixLength)")
            }
        }
        if let gateway = active.route.gateway { values["gateway"] = .text(gateway.description) }
        if ipv4 != nil, let ipv6 {
            if let address = ipv6.usableAddress {
                values["ipv6_address"] = .text(address.description)
                if let entry = ipv6.entry { values["ipv6_prefix_length"] = .integer(entry.prefixLength) }
            }
            if let gateway = ipv6.route.gateway { values["ipv6_gateway"] = .text(gateway.description) }
        }
        if let bottom = stack?.bottom, bottom.link.index != active.link.index {
            if !bottom.link.name.isEmpty { values["underlay_interface"] = .text(bottom.link.name) }
            values["underlay_type"] = .text(bottom.type.rawValue)
        }
        association?.add(to: &values)
        return values
    }
}

extension PathFacts.FamilyPath {
    /// The source address, unless it is one that cannot reach the target: none (0.0.0.0), `::1` for lack of any other, or a link-local
    /// one towards a global target.
    var usableAddress: IPAddress? {
        guard let address, !address.isUnspecified else { return nil }
        if route.isLocal { return address }
        if address.isLoopback || address.isLinkLocal, !isLinkLocalTarget { return nil }
        return address
    }

    var isUsable: Bool {
        // A route that sends other machines' packets to the loopback leads nowhere.
        let leadsNowhere = link.isLoopback && !route.isLocal
        return route.isPath && !route.isDead && !leadsNowhere && link.isUp && link.hasCarrier && usableAddress != nil
    }
}

extension PathFacts.Association {
    func add(to values: inout [String: FieldValue]) {
        let serving = bss.first { $0.bssid == station?.macAddress } ?? (bss.count == 1 ? bss.first : nil)
        // Most drivers tell no name with the interface, and some an empty one for a hidden network: the scan result knows it.
        if let ssid = serving?.ssid ?? bss.lazy.compactMap(\.ssid).first ?? interface.ssid.flatMap({ SSID.visible($0) }) {
            values["ssid_hex"] = .text(ssid.hex)
            if let text = String(validating: ssid, as: UTF8.self) { values["ssid"] = .text(text) }
        }
        let isMultiLink = bss.count > 1 || bss.contains { $0.mldAddress != nil }
        if let bssid = serving?.bssid ?? (isMultiLink ? bss.first?.bssid : station?.macAddress) { values["bssid"] = .text(bssid.macText) }
        if let signal = station?.signal ?? station?.averageSignal {
            values["rssi"] = .integer(signal)
            values["signal_strength"] = .integer(min(100, max(0, 2 * (signal + 100))))
        }
        if let frequency = interface.frequency ?? serving?.frequency ?? bss.first?.frequency {
            values["frequency"] = .integer(frequency)
            if let channel = WirelessChannel.number(frequency: frequency) { values["channel"] = .integer(channel) }
        }
        if let width = interface.channelWidth { values["channel_width"] = .integer(width) }
        if let rate = station?.transmitRate?.megabitsPerSecond { values["link_speed"] = .number(rate) }
        if let rate = station?.receiveRate?.megabitsPerSecond { values["rx_link_speed"] = .number(rate) }
        if let standard { values["wifi_standard"] = .text(standard) }
        if isMultiLink { addLinks(to: &values) }
    }

    private func addLinks(to values: inout [String: FieldValue]) {
        let links = bss.filter { $0.linkID != nil }.sorted { $0.linkID! < $1.linkID! }
        guard !links.isEmpty else { return }
        values["mlo_links"] = .records(
            links.map { link in
                var record: [String: FieldValue] = ["link_id": .integer(link.linkID!), "bssid": .text(link.bssid.macText)]
                if let frequency = link.frequency { record["frequency"] = .integer(frequency) }
                if let signal = link.signal { record["rssi"] = .integer(signal) }
                return record
            })
        if let address = links.lazy.compactMap(\.mldAddress).first ?? station?.macAddress {
            values["mld_address"] = .text(address.macText)
        }
    }
}

extension [UInt8] {
    /// Two lower-case digits an octet.
    fileprivate var hex: String { map(\.hex).joined() }

    /// The usual form of a link-layer address.
    fileprivate var macText: String { map(\.hex).joined(separator: ":") }
}

extension UInt8 {
    fileprivate var hex: String {
        let digits = String(self, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
