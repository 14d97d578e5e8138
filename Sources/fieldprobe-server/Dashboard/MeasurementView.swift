internal import MeasurementModel

/// One measurement as a page. A report is the device's word: any member may be missing or of another type.
struct MeasurementView {
    let record: MeasurementRecord
    let report: JSONValue

    var markup: Markup {
        let connection = ConnectionTrace(report)
        let track = TrackMap(report, connection)
        return """
            <h1>\(record.type) <span class="light">\(record.subject)</span></h1>
            \(summary)
            <h2>Result</h2>
            \(ResultView(report["result"]).markup)
            <h2>Track</h2>
            \(track.markup)
            <h2>Connection</h2>
            \(TimelineView(connection, report).markup)
            <h2>Collectors</h2>
            \(HonestyView(report).markup)
            <p><a href="/measurements/\(record.id)/report.json">Save the report as JSON</a></p>
            """
    }

    private var summary: Markup {
        let permissions = report["permissions"]?.object?.members.compactMap { name, value in
            value.bool == true ? name : value.string.map { "\(name): \($0)" }
        }
        return Page.facts([
            ("Client", "<a href=\"/clients/\(record.clientUUID)\">\(record.clientLabel ?? record.clientUUID)</a>"),
            ("Ended", record.finishedReason.map { MeasurementTable.ended($0) }),
            ("Duration", record.durationMilliseconds.map { "\(Numbers.seconds($0))" }),
            ("Target", Self.target(report).map { "\($0)" }),
            ("Started", record.startedAt.map { "\($0.short) UTC" }), ("Received", "\(record.receivedAt.short) UTC"),
            ("Permitted", permissions.flatMap { $0.isEmpty ? nil : "\($0.joined(separator: ", "))" }),
            ("Identifier", "<code>\(record.id)</code>"), ("Size", "\(Numbers.size(record.size))"),
        ])
    }

    private static func target(_ report: JSONValue) -> String? {
        guard let target = report["target"] else { return nil }
        return target.string ?? target["host"]?.string ?? target.object?.members.first?.value.string
    }
}

/// The result of the measurement: whatever it is, as names and values.
struct ResultView {
    private static let maximumFacts = 80
    private static let maximumText = 2000
    private let result: JSONValue?

    init(_ result: JSONValue?) { self.result = result }

    var markup: Markup {
        guard let result else { return "<p class=\"none\">The report has no result.</p>" }
        var facts: [(String, Markup?)] = []
        Self.flatten(result, "", 0, &facts)
        if facts.isEmpty { return "<p class=\"none\">The result is empty.</p>" }
        let more: Markup = facts.count > Self.maximumFacts ? "<p class=\"hint\">The report has more.</p>" : .empty
        return "\(Page.facts(Array(facts.prefix(Self.maximumFacts))))\(more)"
    }

    private static func flatten(_ value: JSONValue, _ path: String, _ depth: Int, _ facts: inout [(String, Markup?)]) {
        guard facts.count <= maximumFacts else { return }
        let name = path.isEmpty ? "result" : path
        switch value {
        case .object(let object) where depth < 4:
            for (key, member) in object.members { flatten(member, path.isEmpty ? key : "\(path).\(key)", depth + 1, &facts) }
        case .array(let values) where depth < 4 && values.contains { $0.object != nil }:
            for (index, member) in values.enumerated() { flatten(member, "\(path)[\(index)]", depth + 1, &facts) }
        case .string(let text):
            let shown = text.count > maximumText ? text.prefix(maximumText) + "…" : text[...]
            facts.append((name, text.contains("\n") ? "<pre>\(lines: String(shown))</pre>" : "\(String(shown))"))
        default: facts.append((name, "\(String(value.text().prefix(maximumText)))"))
        }
    }
}
