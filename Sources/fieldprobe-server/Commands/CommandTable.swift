/// Every command, in the order of the help.
enum CommandTable {
    static let all: [any Subcommand.Type] = [
        ServeCommand.self, KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self, ClientListCommand.self,
        ClientShowCommand.self, ClientDisableCommand.self, ClientEnableCommand.self, MeasurementListCommand.self,
        MeasurementShowCommand.self, MeasurementExportCommand.self, CapabilityCreateCommand.self, CapabilityListCommand.self,
        UserAddCommand.self,
    ]

    /// The command that the words begin with, and the words after it.
    static func find(_ words: [String]) -> (command: any Subcommand.Type, rest: ArraySlice<String>)? {
        for command in all {
            let name = command.syntax.name.split(separator: " ").map(String.init)
            if words.starts(with: name) { return (command, words.dropFirst(name.count)) }
        }
        return nil
    }
}
