internal import MeasurementModel

/// What a collector could and could not see, in words.
enum HonestyView {
    private static let maximumGaps = 10

    static func lines(_ record: JSONValue, style: Style) -> [String] {
        func text(_ key: String) -> String { TerminalText.escaped(record[key]?.string ?? "", limit: 300) }
        let isFine = record["state"]?.string == "ok"
        let title = [text("name"), text("version")].filter { !$0.isEmpty }.joined(separator: " ")
        var first = "  \(title): \(isFine ? style.green("ok") : style.red(text("state")))"
        if !isFine {
            let why = [reason(record["reason"]?.string), text("detail")].filter { !$0.isEmpty }
            if !why.isEmpty { first += ", " + why.joined(separator: ": ") }
        }
        var lines = [first]
        if let recorded = record["recorded"]?.int64, let suppressed = record["suppressed"]?.int64 {
            lines.append("    \(Numbers.count(recorded, "snapshot")) recorded, \(Numbers.count(suppressed, "reading")) without a change")
        }
        let rejected = record["rejected"]?.object?.members ?? []
        if !rejected.isEmpty {
            let parts = rejected.prefix(10).map { "\(TerminalText.escaped($0.key, limit: 60)) (\($0.value.int64 ?? 0))" }
            lines.append("    refused: " + parts.joined(separator: ", "))
        }
        let withheld = (record["withheld"]?.array ?? []).compactMap(\.string)
        if !withheld.isEmpty {
            lines.append("    left out for want of a permission: " + TerminalText.escaped(withheld.joined(separator: ", "), limit: 300))
        }
        lines += gapLines(record)
        if let resyncs = record["resyncs"]?.int64, resyncs > 0 {
            lines.append("    asked again as a whole \(resyncs) times, after lost events")
        }
        let provenance = record["provenance"]?.object?.members ?? []
        if !provenance.isEmpty {
            let parts = provenance.prefix(20).map { "\($0.key) from \($0.value.string ?? "")" }
            lines.append("    known: " + TerminalText.escaped(parts.joined(separator: ", "), limit: 600))
        }
        return lines
    }

    private static func gapLines(_ record: JSONValue) -> [String] {
        let gaps = record["gaps"]?.array ?? []
        var lines = gaps.prefix(maximumGaps).map { gap in
            let from = gap["from_offset_ms"]?.int64.map(Numbers.seconds) ?? "?"
            let to = gap["to_offset_ms"]?.int64.map(Numbers.seconds) ?? "?"
            return "    nothing seen from \(from) to \(to) s: \(reason(gap["reason"]?.string))"
        }
        let (more, overflows) = Int64(gaps.count - lines.count).addingReportingOverflow(record["gaps_not_listed"]?.int64 ?? 0)
        if more > 0 || overflows { lines.append("    and \(overflows ? .max : more) more gaps") }
        return lines
    }

    /// The words that programs compare, for people.
    static func reason(_ word: String?) -> String {
        switch word {
        case nil: ""
        case "no_hardware": "there is no such hardware"
        case "no_permission": "the permission is off"
        case "no_daemon": "the daemon is not running"
        case "event_loss": "the kernel dropped events"
        case "flood": "it said too much at once"
        case "silent": "it said nothing"
        case "hung": "it hung"
        case "trace_full": "the trace is full"
        case "did_not_stop": "it did not end with the test"
        case "did_not_describe_itself": "it did not say what it is"
        case "bad_declaration": "its declaration is wrong"
        case "trace_taken": "its trace belongs to another collector"
        case "no_resources": "this machine had no thread or descriptor for it"
        case "error": "it failed"
        case "refused": "it must not run"
        case "not_found": "it is not there"
        case "not_runnable", "cannot_load": "it cannot be run"
        case "protocol_version": "it is of another version"
        case "bad_handshake": "it does not speak the collector protocol"
        case "handshake_timeout": "it did not say in time what it is"
        case "not_connected": "it had not said what it records"
        case "exited": "its program ended"
        case "crashed": "its program crashed"
        case "cpu_limit": "its program computed too much"
        case "killed", "unkillable": "its program did not end with the test"
        case let word?: TerminalText.escaped(word.split(separator: "_").joined(separator: " "), limit: 80)
        }
    }
}
