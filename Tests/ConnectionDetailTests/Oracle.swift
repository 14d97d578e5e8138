import LabSupport
import MeasurementModel

/// What a snapshot should say, worked out from `ip -j` alone and without any code of the product but its JSON reader.
struct Oracle {
    let namespace: NetworkNamespace
    var tunnelPeers: [String: String] = [:]

    private struct Family {
        var route: JSONValue
        var source: String?
    }

    func fields(targets: [String]) throws -> [String: String] {
        let links = try json("-j -d link show").array ?? []
        let addresses = try json("-j addr show").array ?? []
        let ipv4 = try path(to: targets.first { !$0.contains(":") })
        let ipv6 = try path(to: targets.first { $0.contains(":") })
        guard let active = ipv4 ?? ipv6, let name = active.route["dev"]?.string, let link = find(name, in: links) else {
            return ["type": "\"none\"", "is_internet_reachable": "false"]
        }
        var fields: [String: String] = [
            "interface": quoted(name), "is_connection_expensive": "false", "mtu": link["mtu"]!.number!.lexeme,
        ]
        let usable = [ipv4, ipv6].compactMap { $0 }.contains { isUsable($0, links) }
        fields["is_internet_reachable"] = usable ? "true" : "false"
        if let source = active.source, isGood(source, active) {
            fields["ip_address"] = quoted(source)
            if let entry = entry(of: source, in: addresses) {
                let length = Int(entry["prefixlen"]!.int64!)
                fields["prefix_length"] = "\(length)"
                let base = entry["address"]?.string ?? source
                fields["subnet"] = quoted("\(network(base, length))/\(length)")
            }
        }
        fields["gateway"] = gateway(active).map(quoted)
        if ipv4 != nil, let ipv6 {
            if let source = ipv6.source, isGood(source, ipv6) {
                fields["ipv6_address"] = quoted(source)
                fields["ipv6_prefix_length"] = entry(of: source, in: addresses)?["prefixlen"]?.number?.lexeme
            }
            fields["ipv6_gateway"] = gateway(ipv6).map(quoted)
        }
        let (type, bottom) = try kind(of: link, links)
        fields["type"] = quoted(type)
        if let bottom, bottom != name {
            fields["underlay_interface"] = quoted(bottom)
            fields["underlay_type"] = "\"ethernet\""
        }
        return fields
    }

    private func path(to target: String?) throws -> Family? {
        guard let target, let first = try lookup("\(target)") else { return nil }
        let source = first["prefsrc"]?.string
        guard let source, first["type"]?.string != "local" else { return Family(route: first, source: source) }
        guard let second = try lookup("\(target) from \(source)") else { return nil }
        return Family(route: second, source: source)
    }

    private func lookup(_ words: String) throws -> JSONValue? {
        guard let text = try? namespace.ip("-j route get \(words)"), let route = try JSONValue(parsing: text)[0] else { return nil }
        switch route["type"]?.string {
        case nil, "local", "unicast": return route["dev"] == nil ? nil : route
        default: return nil
        }
    }

    private func gateway(_ path: Family) -> String? { path.route["gateway"]?.string ?? path.route["via"]?["host"]?.string }

    private func isGood(_ source: String, _ path: Family) -> Bool {
        if path.route["type"]?.string == "local" { return true }
        return source != "0.0.0.0" && source != "::1" && !source.hasPrefix("169.254.") && !source.hasPrefix("fe80:")
    }

    private func isUsable(_ path: Family, _ links: [JSONValue]) -> Bool {
        guard let name = path.route["dev"]?.string, let link = find(name, in: links), let source = path.source else { return false }
        let flags = link["flags"]?.array?.compactMap(\.string) ?? []
        return flags.contains("UP") && flags.contains("LOWER_UP") && isGood(source, path)
    }

    private func find(_ name: String, in links: [JSONValue]) -> JSONValue? { links.first { $0["ifname"]?.string == name } }

    private func entry(of address: String, in interfaces: [JSONValue]) -> JSONValue? {
        interfaces.lazy.flatMap { $0["addr_info"]?.array ?? [] }.first { $0["local"]?.string == address }
    }

    /// The type, and the name of the device at the bottom.
    private func kind(of link: JSONValue, _ links: [JSONValue]) throws -> (String, String?) {
        let name = link["ifname"]!.string!
        if link["flags"]?.array?.contains(.string("LOOPBACK")) == true { return ("loopback", name) }
        switch link["linkinfo"]?["info_kind"]?.string {
        case "veth": return ("ethernet", name)
        case "macvlan":
            guard let below = link["link"]?.string, let lower = find(below, in: links) else { return ("other", nil) }
            return try kind(of: lower, links)
        case "tun":
            guard let peer = tunnelPeers[name], let route = try lookup(peer), let out = route["dev"]?.string, out != name,
                let lower = find(out, in: links)
            else { return ("vpn", nil) }
            return ("vpn", try kind(of: lower, links).1)
        default: return ("other", nil)
        }
    }

    private func network(_ address: String, _ length: Int) -> String { IPAddress(address)!.network(prefixLength: length).description }

    private func json(_ words: String) throws -> JSONValue { try JSONValue(parsing: try namespace.ip(words)) }

    private func quoted(_ text: String) -> String { "\"\(text)\"" }
}
