/// One command of the program.
protocol Subcommand: Sendable {
    static var syntax: CommandSyntax { get }
    /// - Throws: ``CommandFailure``, or an error whose text is told with ``ExitStatus/failure``.
    static func run(_ arguments: ParsedArguments) async throws -> Ending
}

/// Every command, in the order of the help.
enum CommandTable {
    static let all: [any Subcommand.Type] = [
        RunCommand.self, WebCommand.self, WatchCommand.self, CollectorsListCommand.self, CollectorsDescribeCommand.self,
        PrivacyCommand.self, DoctorCommand.self, ReportShowCommand.self, RegisterCommand.self, StatusCommand.self,
        AuthenticateCommand.self, UnregisterCommand.self, ForgetCommand.self, CapabilityCommand.self,
    ]

    /// The command that the words begin with, and the words after it.
    static func find(_ words: [String]) -> (command: any Subcommand.Type, rest: ArraySlice<String>)? {
        for command in all {
            let name = command.syntax.name.split(separator: " ").map(String.init)
            if words.starts(with: name) { return (command, words.dropFirst(name.count)) }
        }
        return nil
    }

    /// The second words of a first word that several commands share.
    static func continuations(of word: String) -> [String] {
        all.compactMap { command in
            let name = command.syntax.name.split(separator: " ")
            return name.count == 2 && name[0] == word ? String(name[1]) : nil
        }
    }
}
