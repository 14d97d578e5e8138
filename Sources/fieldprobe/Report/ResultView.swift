internal import MeasurementModel

/// The result of a measurement for people: web pages and commands in their own form, anything else as JSON.
struct ResultView {
    private let result: JSONValue
    private let style: Style

    /// Lines of a command's output, or of JSON, that are shown.
    private static let maximumLines = 40

    init(_ result: JSONValue, style: Style) {
        self.result = result
        self.style = style
    }

    var lines: [String] {
        if let pages = result["pages"]?.array { return pageLines(pages) }
        if result["command"] != nil { return commandLines }
        if let error = result["error"]?.string { return ["  \(style.red("error")): \(TerminalText.escaped(error, limit: 500))"] }
        return block(result.text(pretty: true))
    }

    private func pageLines(_ pages: [JSONValue]) -> [String] {
        var table = TextTable(["URL", "STATUS", "HTTP", "ADDRESS", "LOOKUP", "CONNECT", "TLS", "FIRST BYTE", "TRANSFER", "TOTAL", "OCTETS"])
        var errors: [String] = []
        func add(_ page: JSONValue, url: String, total: Double?) {
            let phases = page["phases_ms"]
            table.add([
                TerminalText.escaped(url, limit: 60), page["status"]?.int64.map(String.init) ?? "",
                TerminalText.escaped(page["http_version"]?.string ?? "", limit: 8),
                TerminalText.escaped(page["remote_address"]?.string ?? "", limit: 50), milliseconds(phases?["name_lookup"]),
                milliseconds(phases?["connect"]), milliseconds(phases?["tls"]), milliseconds(phases?["first_byte"]),
                milliseconds(phases?["transfer"]), total.map { Numbers.fixed($0, 1) } ?? "",
                page["body_octets"]?.int64.map(String.init) ?? "",
            ])
        }
        for page in pages {
            let url = page["url"]?.string ?? ""
            let hops = page["hops"]?.array ?? []
            for hop in hops.dropLast() { add(hop, url: hop["url"]?.string ?? "", total: hop["at_ms"]?["total"]?.double) }
            let shown = hops.isEmpty ? url : "-> \(page["final_url"]?.string ?? url)"
            add(page, url: shown, total: page["duration_ms"]?.double ?? page["at_ms"]?["total"]?.double)
            if let message = page["error"]?["message"]?.string {
                errors.append("  \(style.red("error")): \(TerminalText.escaped(message, limit: 300))")
            }
        }
        return table.lines(style: style) + ["  (milliseconds)"] + errors
    }

    private func milliseconds(_ value: JSONValue?) -> String { value?.double.map { Numbers.fixed($0, 1) } ?? "" }

    private var commandLines: [String] {
        let program = TerminalText.escaped(result["command"]?.string ?? "", limit: 100)
        let ending =
            result["exit_status"]?.int64.map { "ended with \($0)" }
            ?? "was ended by \(TerminalText.escaped(result["signal"]?.string ?? "a signal", limit: 20))"
        let duration = result["duration_ms"]?.int64.map { " after \(Numbers.seconds($0)) s" } ?? ""
        var lines = ["  \(program) \(ending)\(duration)"]
        if let document = result["output"] { lines += block(document.text(pretty: true)) }
        if let text = result["output_text"]?.string { lines += block(text) }
        if result["output_truncated"]?.bool == true { lines.append("  (its output was longer than what is kept)") }
        if let tail = result["stderr_tail"]?.string { lines += ["  on standard error:"] + block(tail) }
        return lines
    }

    private func block(_ text: String) -> [String] {
        let all = text.split(omittingEmptySubsequences: false, whereSeparator: { $0.isNewline })
        let lines = all.last == "" ? all.dropLast() : all[...]
        var shown = lines.prefix(Self.maximumLines).map { "  | " + TerminalText.escaped(String($0), limit: 300) }
        if lines.count > shown.count { shown.append("  | … \(lines.count - shown.count) more lines") }
        return shown
    }
}
