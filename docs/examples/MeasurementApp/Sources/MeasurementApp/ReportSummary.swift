import FieldProbe

/// A report in a few lines for people.
enum ReportSummary {
    static func text(_ report: Report) -> String {
        let kind = "\(report.kind.type)/\(report.kind.subject)"
        var lines = ["\(kind): \(report.finishedReason.rawValue) after \(report.duration.milliseconds) ms"]
        if let connect = report.result?["connect"], let median = connect["median_ms"]?.double, let maximum = connect["maximum_ms"]?.double {
            lines.append("  connect: \(rounded(median)) ms median, \(rounded(maximum)) ms maximum")
        }
        if let rate = report.result?["megabits_per_second"]?.double { lines.append("  throughput: \(rounded(rate)) Mbit/s") }
        if let error = report.result?["error"]?.string { lines.append("  error: \(error)") }
        for record in report.collectors { lines.append("  " + line(record)) }
        for trace in report.traces {
            guard let last = trace.snapshots.last else { continue }
            lines.append("  last of \(trace.key): " + last.fields.compactMap(text).joined(separator: ", "))
        }
        return lines.joined(separator: "\n")
    }

    private static func text(_ field: Snapshot.Field) -> String? {
        field.value.json.map { "\(field.name) \(String(decoding: $0.utf8(), as: UTF8.self))" }
    }

    /// How far a trace can be believed.
    private static func line(_ record: CollectorRecord) -> String {
        var words = ["\(record.name): \(record.state.rawValue)"]
        if let reason = record.reason { words.append("because of \(reason)") }
        words.append("\(record.recorded) snapshots, \(record.gaps.count) gaps")
        return words.joined(separator: ", ")
    }

    private static func rounded(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }
}
