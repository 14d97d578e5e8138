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
        CollectorsCheckCommand.self, CollectorsNewCommand.self,
        PrivacyCommand.self, DoctorCommand.self, ReportShowCommand.self, RegisterCommand.self, StatusCommand.self,
        AuthenticateCommand.self, UnregisterCommand.self, ForgetCommand.self, CapabilityCommand.self,
        QueueListCommand.self, QueueShowCommand.self,
        QueueSendCommand.self, QueueResetCommand.self, QuarantineListCommand.self, QuarantineRetryCommand.self,
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
        var words: [String] = []
        for command in all {
            let name = command.syntax.name.split(separator: " ").map(String.init)
            if name.count > 1, name[0] == word, !words.contains(name[1]) { words.append(name[1]) }
        }
        return words
    }
}
