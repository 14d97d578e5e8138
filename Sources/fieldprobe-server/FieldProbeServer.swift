internal import CLinux
internal import Glibc

@main
enum FieldProbeServer {
    static func main() {
        // A client or a reader that leaves is an error of one write, not the end of the process.
        clinux_ignore_sigpipe()
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    static func run(_ words: [String]) -> ExitStatus {
        do {
            try dispatch(words)
            return .success
        } catch let failure as CommandFailure {
            Output.complain(failure.description)
            return failure.status
        } catch let error as DatabaseError {
            Output.complain(error.description)
            return .data
        } catch {
            Output.complain("\(error)")
            return .failure
        }
    }

    private static func dispatch(_ words: [String]) throws {
        switch words.first {
        case nil: throw CommandFailure(.usage, "a command is missing: see 'fieldprobe-server --help'")
        case "--help", "-h", "help": try Output.print(Array(Help.overview.utf8))
        case "--version": try Output.print("fieldprobe-server \(ServerVersion.current)")
        case let word?:
            guard let (command, rest) = CommandTable.find(words) else { return try groupHelp(word, words) }
            let arguments = try ParsedArguments(rest, syntax: command.syntax)
            if arguments.isSet("help") { return try Output.print(Array(Help.text(of: command.syntax).utf8)) }
            try command.run(arguments)
        }
    }

    private static func groupHelp(_ word: String, _ words: [String]) throws {
        let group = CommandTable.all.map { $0.syntax }.filter { $0.name.hasPrefix(word + " ") }
        guard !group.isEmpty else { throw CommandFailure(.usage, "there is no command '\(word)': see 'fieldprobe-server --help'") }
        if words.dropFirst().contains(where: { $0 == "--help" || $0 == "-h" }) {
            return try Output.print(Help.commands(group).joined(separator: "\n"))
        }
        let names = group.map { $0.name.dropFirst(word.count + 1) }.joined(separator: ", ")
        throw CommandFailure(.usage, "'\(word)' needs one of \(names): see 'fieldprobe-server --help'")
    }
}
