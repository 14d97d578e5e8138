/// One option of a command. Parsing and `--help` are made from it.
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

    static let shared: [OptionSyntax] = [
        value("data", "DIR", "Folder with everything that the server keeps (default: \(DataFolder.defaultPath))"),
        flag("json", "Print JSON for programs"),
        flag("help", "Show this help"),
    ]
}

/// One command: what it is called, takes and does.
struct CommandSyntax: Sendable {
    /// The words that call it, such as `key create`.
    let name: String
    /// What follows the options, such as `UUID`.
    var operand: String?
    let about: String
    var options: [OptionSyntax] = []
    /// More for its help.
    var details = ""

    var allOptions: [OptionSyntax] { options + OptionSyntax.shared }
}

protocol Subcommand: Sendable {
    static var syntax: CommandSyntax { get }
    /// - Throws: ``CommandFailure``, or an error whose text is told.
    static func run(_ arguments: ParsedArguments) throws
}
