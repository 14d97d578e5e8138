internal import CLinux
internal import DeviceRegistration
internal import Glibc
internal import MeasurementModel
internal import QualityTests

@main
enum FieldProbeCommand {
    static func main() async {
        ProcessSetup.prepare()
        await run(Array(CommandLine.arguments.dropFirst())).end()
    }

    static func run(_ words: [String]) async -> Ending {
        do {
            return try await dispatch(words)
        } catch let failure as CommandFailure {
            Output.complain(failure.description)
            return .own(failure.status)
        } catch let refusal as TestRefusal {
            Output.complain(refusal.message)
            return .own(ExitStatus(refusal))
        } catch let error as RegistryError {
            Output.complain(error.description)
            return .own(ExitStatus(error))
        } catch {
            Output.complain("\(error)")
            return .own(.failure)
        }
    }

    private static func dispatch(_ words: [String]) async throws -> Ending {
        switch words.first {
        case nil:
            Output.complain("a command is missing: see 'fieldprobe --help'")
            return .own(.usage)
        case "help" where words.count > 1:
            let rest = Array(words.dropFirst())
            guard let (command, more) = CommandTable.find(rest) else { return try groupHelp(rest[0], rest + ["--help"]) }
            if let word = more.first { throw CommandFailure(.usage, "'\(word)' is one word too many: see 'fieldprobe --help'") }
            try Output.print(Help.text(of: command.syntax))
            return .own(.success)
        case "--help", "-h", "help":
            try Output.print(Help.overview)
            return .own(.success)
        case "--version":
            try Output.print("fieldprobe \(ProductVersion.current)\n")
            return .own(.success)
        case let word?:
            guard let (command, rest) = CommandTable.find(words) else { return try groupHelp(word, words) }
            let arguments = try ParsedArguments(rest, syntax: command.syntax)
            if arguments.isSet("help") {
                try Output.print(Help.text(of: command.syntax))
                return .own(.success)
            }
            return try await command.run(arguments)
        }
    }

    private static func groupHelp(_ word: String, _ words: [String]) throws -> Ending {
        let continuations = CommandTable.continuations(of: word)
        guard !continuations.isEmpty else {
            throw CommandFailure(.usage, "there is no command '\(word)': see 'fieldprobe --help'")
        }
        let commands = CommandTable.all.map { $0.syntax }.filter { $0.name.hasPrefix(word + " ") }
        if words.dropFirst().contains(where: { $0 == "--help" || $0 == "-h" }) {
            try Output.print(
                Help.columns(commands.map { ("fieldprobe \($0.name) \($0.operands)", $0.about) }).joined(separator: "\n") + "\n")
            return .own(.success)
        }
        throw CommandFailure(.usage, "'\(word)' needs one of \(continuations.joined(separator: ", ")): see 'fieldprobe --help'")
    }
}

/// What has to be so before anything else runs.
enum ProcessSetup {
    /// SIGPIPE was ignored when the process began: a wrapped command keeps that.
    nonisolated(unsafe) private(set) static var wasPipeIgnored = false
    /// Descriptors that were there when the process began, after the standard streams: a shell's <(...), make(1)'s jobserver. A wrapped
    /// command gets them, and none that this process has opened since; nil where /proc does not tell.
    nonisolated(unsafe) private(set) static var inheritedDescriptors: [Int32]?

    static func prepare() {
        wasPipeIgnored = clinux_is_ignored(SIGPIPE) == 1
        let open = namesInFolder("/proc/self/fd").compactMap { Int32($0) }
        // The folder that was read shows itself too, and is closed by now.
        inheritedDescriptors = open.isEmpty ? nil : open.filter { $0 > 2 && fcntl($0, F_GETFD) >= 0 }
        // A reader that leaves is an error of one write, not the end of the process.
        clinux_ignore_sigpipe()
        // A parent that ignores SIGCHLD would have the kernel throw our children's status away.
        var child = SIGCHLD
        clinux_default_signals(&child, 1)
        // Without its standard streams, the next file that is opened would become one.
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = Glibc.open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
    }
}
