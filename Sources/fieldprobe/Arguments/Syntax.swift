/// One option of a command. Parsing, `--help` and the tests are made from it.
struct OptionSyntax: Sendable {
    let name: String
    /// The placeholder of its value; nil for a switch.
    let value: String?
    let isRepeatable: Bool
    let about: String

    static func flag(_ name: String, _ about: String) -> OptionSyntax {
        OptionSyntax(name: name, value: nil, isRepeatable: false, about: about)
    }

    static func value(_ name: String, _ value: String, repeatable: Bool = false, _ about: String) -> OptionSyntax {
        OptionSyntax(name: name, value: value, isRepeatable: repeatable, about: about)
    }

    static let help = flag("help", "Show this help")
    static let json = flag("json", "Print JSON for programs")
    static let config = value("config", "FILE", "Configuration file (default: /etc/fieldprobe/fieldprobe.conf, if it is there)")
    static let set = value("set", "SECTION.KEY=VALUE", repeatable: true, "Set one configuration value, before the file's")
}

/// One command: what it is called, takes and does.
struct CommandSyntax: Sendable {
    /// The words that call it, such as `report show`.
    let name: String
    /// What follows the options, such as `FILE...`.
    var operands = ""
    /// How many operands there may be.
    var operandCount: ClosedRange<Int> = 0...0
    let about: String
    var options: [OptionSyntax] = []
    /// The first operand ends the options: what follows belongs to another program.
    var endsAtOperand = false
    /// More for its help, in lines of at most 80 characters.
    var details = ""

    /// Help for it lists the configuration's keys: only where much of the configuration counts.
    var listsConfiguration = false

    var allOptions: [OptionSyntax] { options + [.config, .set, .help] }
}
