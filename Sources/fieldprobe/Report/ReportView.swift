internal import MeasurementModel

/// A report for people. Everything in it comes from outside, and is escaped.
struct ReportView {
    private let report: JSONValue
    private let style: Style

    init(_ report: JSONValue, style: Style) {
        self.report = report
        self.style = style
    }

    var text: String {
        var lines = header + resultLines
        for (key, value) in report.object?.members ?? [] where key.hasSuffix("_trace") {
            lines += trace(key, value.array ?? [])
        }
        lines += honesty
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Header

    private var header: [String] {
        let kind = "\(word("type"))/\(word("subject"))"
        var lines = [style.bold("Test \(kind), \(reason)")]
        var facts: [(String, String)] = [("Report", word("id")), ("Started", word("started_at"))]
        if let duration = report["duration_ms"]?.int64 { facts.append(("Duration", "\(Numbers.seconds(duration)) s")) }
        facts.append(("Target", target))
        facts.append(("Client", [word("client_label"), word("client_uuid")].filter { !$0.isEmpty }.joined(separator: ", ")))
        facts.append(("Device", device))
        facts.append(("Clock", clock))
        facts.append(("Permissions", permissions))
        lines += Help.columns(facts.filter { !$0.1.isEmpty })
        return lines
    }

    private var reason: String {
        switch report["finished_reason"]?.string {
        case "completed": style.green("completed")
        case "failed": style.red("failed")
        case let other?: TerminalText.escaped(other, limit: 40)
        case nil: "without a stated end"
        }
    }

    private var target: String {
        guard let target = report["target"] else { return "" }
        let addresses = (target["addresses"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        let host = target["host"]?.string ?? ""
        return TerminalText.escaped(addresses.isEmpty || addresses == host ? host : "\(host) (\(addresses))", limit: 400)
    }

    private var device: String {
        ["model", "os", "kernel", "architecture"].compactMap { report["device"]?[$0]?.string }
            .map { TerminalText.escaped($0, limit: 100) }.joined(separator: ", ")
    }

    private var clock: String {
        guard let time = report["time"] else { return "" }
        var parts: [String] = []
        if let synchronised = time["synchronised"]?.bool { parts.append(synchronised ? "synchronised" : "not synchronised") }
        if let offset = time["server_offset_ms"]?.int64 { parts.append("server differs by \(Numbers.seconds(offset)) s") }
        for step in time["steps"]?.array ?? [] {
            guard let size = step["size_ms"]?.int64, let offset = step["offset_ms"]?.int64 else { continue }
            parts.append("jumped by \(Numbers.seconds(size)) s at \(Numbers.seconds(offset)) s")
        }
        return parts.joined(separator: ", ")
    }

    private var permissions: String {
        let members = report["permissions"]?.object?.members ?? []
        var parts = members.compactMap { key, value in value.bool.map { "\(TerminalText.escaped(key)) \($0 ? "on" : "off")" } }
        if let purpose = report["permissions"]?["purpose"]?["key"]?.string {
            parts.append("for the purpose \(TerminalText.escaped(purpose, limit: 100))")
        }
        return parts.joined(separator: ", ")
    }

    private func word(_ key: String) -> String { TerminalText.escaped(report[key]?.string ?? "", limit: 200) }

    // MARK: Parts

    private var resultLines: [String] {
        guard let result = report["result"] else { return ["", style.bold("Result"), "  none"] }
        return ["", style.bold("Result")] + ResultView(result, style: style).lines
    }

    private func trace(_ key: String, _ snapshots: [JSONValue]) -> [String] {
        let title = ["", style.bold(TerminalText.escaped(key, limit: 80))]
        guard !snapshots.isEmpty else { return title + ["  no snapshots"] }
        return title + TraceView.lines(key, snapshots, style: style)
    }

    private var honesty: [String] {
        let records = report["collectors"]?.array ?? []
        guard !records.isEmpty else { return [] }
        return ["", style.bold("Collectors")] + records.flatMap { HonestyView.lines($0, style: style) }
    }
}
