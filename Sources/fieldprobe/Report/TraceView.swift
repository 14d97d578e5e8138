internal import Glibc
internal import MeasurementModel

/// A trace as a table.
enum TraceView {
    /// Rows that are shown: the first and the last ones of a longer trace.
    private static let maximumRows = 60

    static func lines(_ key: String, _ snapshots: [JSONValue], style: Style) -> [String] {
        let columns = columns(key, snapshots)
        var table = TextTable(["OFFSET"] + columns.map(\.title))
        let isLong = snapshots.count > maximumRows
        let shown = isLong ? snapshots.prefix(maximumRows / 2) + snapshots.suffix(maximumRows / 2) : snapshots[...]
        for (index, snapshot) in shown.enumerated() {
            if isLong, index == maximumRows / 2 { table.add(["…"] + columns.map { _ in "" }) }
            table.add(
                [snapshot["offset_ms"]?.int64.map(Numbers.seconds) ?? ""]
                    + columns.map { TerminalText.escaped($0.cell(snapshot), limit: 60) })
        }
        var lines = table.lines(style: style)
        if isLong { lines.append("  (\(snapshots.count) snapshots)") }
        if key == "geolocation_trace" { lines += distance(snapshots) }
        return lines
    }

    private struct Column {
        let title: String
        let cell: (JSONValue) -> String
    }

    private static func columns(_ key: String, _ snapshots: [JSONValue]) -> [Column] {
        func field(_ title: String, _ names: String..., decimals: Int? = nil) -> Column {
            Column(title: title) { snapshot in names.compactMap { plain(snapshot[$0], decimals) }.first ?? "" }
        }
        switch key {
        case "connection_detail_trace":
            return [
                field("TYPE", "type"), field("INTERFACE", "interface"),
                Column(title: "ADDRESS") { snapshot in
                    let prefix = plain(snapshot["prefix_length"], nil).map { "/" + $0 } ?? ""
                    return plain(snapshot["ip_address"], nil).map { $0 + prefix } ?? ""
                },
                field("IPV6", "ipv6_address"), field("GATEWAY", "gateway", "ipv6_gateway"), field("REACHABLE", "is_internet_reachable"),
                field("METERED", "is_connection_expensive"), field("SSID", "ssid", "ssid_hex"), field("BSSID", "bssid"),
                field("RSSI", "rssi"),
                field("MHZ", "frequency"), field("RADIO", "radio_technology"), field("RSRP", "rsrp"),
                field("UNDERLAY", "underlay_interface"),
            ]
        case "geolocation_trace":
            return [
                field("LATITUDE", "latitude", decimals: 7), field("LONGITUDE", "longitude", decimals: 7),
                field("ACCURACY m", "horizontal_accuracy", decimals: 1), field("ALTITUDE m", "altitude", decimals: 1),
                field("SPEED m/s", "speed", decimals: 1), field("COURSE", "course", decimals: 0), field("MODE", "fix_mode"),
                field("STATUS", "fix_status"), field("AGE ms", "age_ms"),
            ]
        default:
            var names: [String] = []
            for snapshot in snapshots.prefix(maximumRows) {
                for (name, _) in snapshot.object?.members ?? [] where !Snapshot.commonFields.contains(name) && !names.contains(name) {
                    names.append(name)
                }
            }
            return names.prefix(12).map { name in
                Column(title: TerminalText.escaped(name, limit: 40)) { plain($0[name], nil) ?? "" }
            }
        }
    }

    private static func plain(_ value: JSONValue?, _ decimals: Int?) -> String? {
        switch value {
        case nil: nil
        case .string(let text): text
        case .bool(let value): value ? "yes" : "no"
        case .number(let number):
            decimals.flatMap { count in number.double.map { Numbers.fixed($0, count, else: number.lexeme) } } ?? number.lexeme
        case let other?: other.text()
        }
    }

    /// The way that the positions make, along great circles.
    private static func distance(_ snapshots: [JSONValue]) -> [String] {
        let positions = snapshots.compactMap { snapshot in
            snapshot["latitude"]?.double.flatMap { latitude in snapshot["longitude"]?.double.map { (latitude, $0) } }
        }
        guard positions.count > 1 else { return [] }
        let metres = zip(positions, positions.dropFirst()).reduce(0) { $0 + greatCircle($1.0, $1.1) }
        // Out of numbers that are no position, or too large for one, there comes none.
        guard metres.isFinite else { return [] }
        return ["  Distance covered: \(metres < 10_000 ? "\(Numbers.fixed(metres, 0)) m" : "\(Numbers.fixed(metres / 1000, 1)) km")"]
    }

    /// Metres on a sphere of the earth's mean radius (haversine): good to half a percent, which is enough to show.
    static func greatCircle(_ from: (Double, Double), _ to: (Double, Double)) -> Double {
        let radians = Double.pi / 180
        let (a, b) = (from.0 * radians, to.0 * radians)
        let half = sin((b - a) / 2)
        let across = sin((to.1 - from.1) * radians / 2)
        let square = half * half + cos(a) * cos(b) * across * across
        return 2 * 6_371_008.8 * asin(min(1, square.squareRoot()))
    }
}
