/// Help texts, made from the tables that the program works by.
enum Help {
    private static let name = "fieldprobe-server"

    static var overview: String {
        var lines = [
            "Registers measurement devices, and keeps what they measured.", "", "Usage: \(name) COMMAND [OPTION]... [ARGUMENT]",
            "       \(name) --help | --version", "", "Commands:",
        ]
        lines += commands(CommandTable.all.map { $0.syntax })
        lines += ["", "'\(name) COMMAND --help' tells more about one of them.", "", "Exit codes:"]
        lines += columns(ExitStatus.allCases.map { (String($0.rawValue), $0.meaning) })
        lines += ["", "The commands other than 'serve' work on the same data folder, whether the server runs or not."]
        return lines.joined(separator: "\n") + "\n"
    }

    static func commands(_ all: [CommandSyntax]) -> [String] {
        columns(all.map { ([$0.name, $0.operand ?? ""].filter { !$0.isEmpty }.joined(separator: " "), $0.about) })
    }

    static func text(of syntax: CommandSyntax) -> String {
        let words = [name, syntax.name, "[OPTION]...", syntax.operand ?? ""].filter { !$0.isEmpty }
        var lines = [syntax.about + ".", "", "Usage: " + words.joined(separator: " ")]
        if !syntax.details.isEmpty { lines += ["", syntax.details] }
        lines += ["", "Options:"]
        lines += columns(
            syntax.allOptions.map { option in
                (
                    "--\(option.name)" + (option.value.map { " \($0)" } ?? ""),
                    option.about + (option.isRepeatable ? "; may be repeated" : "")
                )
            })
        return lines.joined(separator: "\n") + "\n"
    }

    /// Two columns, the first as wide as its longest entry.
    private static func columns(_ rows: [(String, String)]) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
    }
}
