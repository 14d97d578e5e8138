internal import MeasurementModel

/// How much each collector saw, by its own word.
struct HonestyView {
    private static let maximumGaps = 50
    private let collectors: [JSONValue]

    init(_ report: JSONValue) { collectors = Array((report["collectors"]?.array ?? []).prefix(100)) }

    var markup: Markup {
        let rows = collectors.map { collector -> [Markup] in
            let name = [collector["name"]?.string, collector["version"]?.string].compactMap { $0 }.joined(separator: " ")
            let state = collector["state"]?.string ?? ""
            let style = state == "ok" ? "good" : state == "failed" || state == "stuck" ? "bad" : "off"
            return [
                "\(name)", "<span class=\"state \(style)\">\(state)</span> \(collector["reason"]?.string ?? "")",
                "\(count(collector["recorded"]))", "\(count(collector["suppressed"]))", rejected(collector["rejected"]),
                gaps(collector["gaps"]), "\(count(collector["resyncs"]))",
            ]
        }
        return Page.table(
            ["Collector", "State", "Recorded", "Unchanged", "Rejected", "Not seen", "Asked again"], rows,
            empty: "The report does not say which collectors ran.")
    }

    private func count(_ value: JSONValue?) -> String { value?.int64.map { String($0) } ?? "" }

    private func rejected(_ value: JSONValue?) -> Markup {
        if let count = value?.int64 { return "\(String(count))" }
        let reasons = value?.object?.members.prefix(20).map { "\($0.key): \($0.value.text())" } ?? []
        return "\(reasons.joined(separator: ", "))"
    }

    private func gaps(_ value: JSONValue?) -> Markup {
        let gaps = value?.array ?? []
        let lines = gaps.prefix(Self.maximumGaps).map { gap -> Markup in
            let from = gap["from_offset_ms"]?.double.map { Numbers.decimal($0 / 1000, 1) } ?? "?"
            let to = gap["to_offset_ms"]?.double.map { Numbers.decimal($0 / 1000, 1) } ?? "end"
            return "<li>\(from)–\(to) s \(gap["reason"]?.string ?? "")</li>"
        }
        return lines.isEmpty ? "none" : "<ul class=\"plain\">\(lines)</ul>"
    }
}
