internal import MeasurementModel

/// What the connection was and when it changed: a band over the test's time, and the changes in rows.
struct TimelineView {
    private static let width = 800.0
    private static let kinds = ["wifi", "cellular", "ethernet", "vpn", "bluetooth", "loopback", "none", "other"]
    private static let maximumGaps = 100
    private let trace: ConnectionTrace
    private let duration: Double
    private let gaps: [(from: Double, to: Double, reason: String)]

    init(_ trace: ConnectionTrace, _ report: JSONValue) {
        self.trace = trace
        let collectors = report["collectors"]?.array ?? []
        let own = collectors.first { $0["trace"]?.string == "connection_detail_trace" }
        gaps = (own?["gaps"]?.array ?? []).prefix(Self.maximumGaps).compactMap { gap in
            guard let from = gap["from_offset_ms"]?.double else { return nil }
            return (from, gap["to_offset_ms"]?.double ?? from, gap["reason"]?.string ?? "gap")
        }
        duration = max(report["duration_ms"]?.double ?? 0, trace.entries.last?.offset ?? 0, 1)
    }

    var markup: Markup {
        guard !trace.entries.isEmpty else { return "<p class=\"none\">The report has no connection details.</p>" }
        let names = Set(trace.entries.map { Self.kind($0.snapshot) })
        let legend = Self.kinds.filter { names.contains($0) }.map { "<li><i class=\"swatch kind-\($0)\"></i>\($0)</li>" as Markup }
        let cut: Markup =
            trace.isCut ? "<p class=\"hint\">The first \(ConnectionTrace.maximumEntries) changes; the report has more.</p>" : .empty
        return """
            <figure>
            <svg class="timeline" viewBox="0 0 800 96" role="img" aria-label="Connection over time">
            <text x="0" y="16">link</text><text x="0" y="50">signal</text>
            \(bands)\(gapMarks)\(axis)
            </svg>
            <figcaption><ul class="legend">\(legend)</ul></figcaption>
            </figure>
            \(rows)\(cut)
            """
    }

    private static func kind(_ snapshot: JSONValue) -> String {
        let name = snapshot["type"]?.string ?? "other"
        return kinds.contains(name) ? name : "other"
    }

    private func x(_ offset: Double) -> Double { 70 + min(max(0, offset), duration) / duration * (Self.width - 70) }

    private var bands: [Markup] {
        trace.entries.enumerated().map { index, entry in
            let from = x(entry.offset)
            let next = index + 1 < trace.entries.count ? trace.entries[index + 1].offset : duration
            let left = Numbers.decimal(from, 1)
            let width = Numbers.decimal(max(1, x(next) - from), 1)
            let title = Self.cells(entry.snapshot).filter { !$0.isEmpty }.joined(separator: ", ")
            return """
                <g><title>\(Numbers.decimal(entry.offset / 1000, 1)) s: \(title)</title>\
                <rect class="kind-\(Self.kind(entry.snapshot))" x="\(left)" y="2" width="\(width)" height="20"/>\
                <rect class="signal-\(SignalGrade(entry.snapshot).rawValue)" x="\(left)" y="38" width="\(width)" height="16"/></g>
                """
        }
    }

    private var gapMarks: [Markup] {
        gaps.map { gap in
            let left = x(gap.from)
            return """
                <rect class="gap" x="\(Numbers.decimal(left, 1))" y="26" width="\(Numbers.decimal(max(2, x(gap.to) - left), 1))" height="8">\
                <title>not seen: \(gap.reason)</title></rect>
                """
        }
    }

    private var axis: Markup {
        let marks = (0...4).map { quarter -> Markup in
            let offset = duration * Double(quarter) / 4
            let anchor = quarter == 0 ? "start" : quarter == 4 ? "end" : "middle"
            let place = Numbers.decimal(x(offset), 1)
            return """
                <path d="M \(place) 60 v 6"/><text x="\(place)" y="84" text-anchor="\(anchor)">\(Numbers.decimal(offset / 1000, 1)) s</text>
                """
        }
        return "<g class=\"axis\"><path d=\"M 70 60 H 800\"/>\(marks)</g>"
    }

    private var rows: Markup {
        let rows = trace.entries.map { entry in
            ["<span class=\"number\">\(Numbers.decimal(entry.offset / 1000, 1)) s</span>" as Markup]
                + Self.cells(entry.snapshot).map { "\($0)" as Markup }
        }
        return Page.table(["After", "Type", "Interface", "Address", "Network", "Signal", "Reachable"], rows, empty: "")
    }

    private static func cells(_ snapshot: JSONValue) -> [String] {
        func number(_ name: String, _ unit: String) -> String? { snapshot[name]?.double.map { "\(Numbers.decimal($0, 0)) \(unit)" } }
        let radio = [snapshot["radio_technology"]?.string, snapshot["operator"]?.string].compactMap { $0 }.joined(separator: " ")
        let network = snapshot["ssid"]?.string ?? snapshot["ssid_hex"]?.string ?? radio
        let signal = number("rsrp", "dBm RSRP") ?? number("rssi", "dBm")
        return [
            snapshot["type"]?.string ?? "", snapshot["interface"]?.string ?? "",
            snapshot["ip_address"]?.string ?? snapshot["ipv6_address"]?.string ?? "", network, signal ?? "",
            snapshot["is_internet_reachable"]?.bool.map { $0 ? "yes" : "no" } ?? "",
        ]
    }
}
