internal import CLinux
internal import Glibc
internal import QualityTests

/// How this program ends. Its own failures lie above what commands usually give; where env(1), nohup(1) and timeout(1) have a convention,
/// it is theirs.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case notEverything = 1
    case usage = 120
    case configuration = 121
    case refused = 122
    case report = 123
    case failure = 125
    case notRunnable = 126
    case notFound = 127
    // Above what a signal's end looks like in a shell (128 and the signal's number, at most 192).
    case notRegistered = 200
    case notConfirmed = 201
    case unknownCredentials = 202
    case usageWindowElapsed = 203
    case clientDisabled = 204
    case registrationRefused = 205
    case unreachable = 206
    case unusableState = 207
    case machineChanged = 208

    /// For `--help` and docs/exit-codes.md.
    var meaning: String {
        switch self {
        case .success: "all went well"
        case .notEverything:
            "the answer is no: an address was not fetched (web), a file is no report (report show), a report was not sent (queue send), a collector does not conform (collectors check)"
        case .usage: "the command line is wrong"
        case .configuration: "the configuration is wrong, or its file cannot be read"
        case .refused: "the test may not run on this device"
        case .report: "the report could not be written"
        case .failure: "fieldprobe itself failed"
        case .notRunnable: "the command was found and could not be run"
        case .notFound: "the command was not found"
        case .notRegistered: "this device is not registered"
        case .notConfirmed: "the server's confirmation of this device has run out, or cannot be trusted"
        case .unknownCredentials: "the server does not know this device any more: register it again"
        case .usageWindowElapsed: "this device's time under its registration key is over: register it again"
        case .clientDisabled: "an administrator disabled this device: do not register it again"
        case .registrationRefused: "the registration was refused: the key, the label, or registered already"
        case .unreachable: "the server gave no usable answer: try again later"
        case .unusableState: "the registration's files cannot be read or written"
        case .machineChanged: "the registration is another machine's, or another server's"
        }
    }
}

/// The end of this process: its own status, or the end that a wrapped command had.
enum Ending: Hashable {
    case own(ExitStatus)
    case command(CommandResult.Ending)

    func end() -> Never {
        switch self {
        case .own(let status): exit(status.rawValue)
        case .command(.exited(let status)): exit(status)
        case .command(.signaled(let number)):
            clinux_die_by(number)
            // A signal that does not end this process: what a shell would say.
            exit(128 + number)
        }
    }
}

/// A failure with the status that it ends this program with.
struct CommandFailure: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}
