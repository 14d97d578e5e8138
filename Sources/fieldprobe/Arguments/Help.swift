/// Help texts, made from the tables that the program works by.
enum Help {
    static let name = "fieldprobe"

    static var overview: String {
        var lines = [
            "Runs network measurements, and records beside them what the network and the place were like.", "",
            "Usage: \(name) COMMAND [OPTION]... [ARGUMENT]...", "       \(name) --help | --version", "", "Commands:",
        ]
        lines += columns(CommandTable.all.map { ($0.syntax.name, $0.syntax.about) })
        lines += ["", "'\(name) COMMAND --help' tells more about one of them.", ""] + exitCodes
        lines += [
            "", "Configuration: /etc/fieldprobe/fieldprobe.conf, or --config FILE. '\(name) collectors list' shows what is recorded,",
            "'\(name) doctor' what works here.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static var exitCodes: [String] {
        ["Exit codes:"]
            + columns(
                ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) } + [
                    ("other", "the measured command's own, which 'run' passes on")
                ])
    }

    static func text(of syntax: CommandSyntax) -> String {
        let words = [name, syntax.name, "[OPTION]...", syntax.endsAtOperand ? "-- \(syntax.operands)" : syntax.operands]
        var lines = [syntax.about + ".", "", "Usage: " + words.filter { !$0.isEmpty }.joined(separator: " ")]
        if !syntax.details.isEmpty { lines += ["", syntax.details] }
        lines += ["", "Options:"]
        lines += columns(
            syntax.allOptions.map { option in
                (
                    "--\(option.name)" + (option.value.map { " \($0)" } ?? ""),
                    option.about + (option.isRepeatable ? "; may be repeated" : "")
                )
            })
        if syntax.listsConfiguration { lines += ["", "Configuration keys (docs/configuration.md):"] + keys }
        return lines.joined(separator: "\n") + "\n"
    }

    private static var keys: [String] {
        columns(ConfigurationTable.keys.map { ("\($0.section).\($0.name)", $0.about) })
    }

    /// Two columns, the first as wide as its longest entry.
    static func columns(_ rows: [(String, String)]) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
    }
}
