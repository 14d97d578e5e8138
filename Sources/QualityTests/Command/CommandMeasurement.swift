internal import CollectorCore
internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Somebody else's command as a measurement: what it prints and how it ends is the result.
///
/// The command does not notice: it keeps our standard input, our environment and working folder, our process group and with it the
/// terminal's signals, the signals that were ignored when we began, and a terminal on standard output and error where we have one.
public struct CommandMeasurement: Sendable {
    /// What is kept and passed on of the command's streams, and how it is ended.
    public struct Settings: Sendable {
        /// Where the command's standard output and error are passed on to as they come; nil passes nothing on. Where one of them is a
        /// terminal, the command gets a terminal too.
        public var standardOutput: Int32?
        public var standardError: Int32?
        /// Octets of standard output that are kept: its beginning.
        public var maximumOutput = 256 * 1024
        /// Octets of standard error that are kept: its end.
        public var maximumErrorTail = 8 * 1024
        /// The signals of this process that the command shall get too. Nil leaves this process's signals alone.
        public var signals: SignalRelay?
        /// The descriptors after the standard streams that the command gets, of those that are not close-on-exec. Nil gives it all of
        /// them: also one that another thread's library has open at that moment without close-on-exec, as libgps does while it connects.
        public var descriptors: [Int32]? = []
        /// How long a command whose test is cancelled may take between SIGTERM and SIGKILL.
        public var stopDeadline: Duration = .seconds(5)

        public init() {}
    }

    /// The program and what it is given. A program without a slash is looked for in `PATH`.
    public let arguments: [String]
    public var settings: Settings

    public init(_ arguments: [String], settings: Settings = Settings()) {
        self.arguments = arguments
        self.settings = settings
    }

    /// The program's name without its folder.
    public var program: String {
        let path = arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Runs the command to its end. A cancelled task ends it with SIGTERM, and later with SIGKILL.
    ///
    /// - Throws: ``CommandError`` when it could not be run. Every way to end is a result.
    public func run() async throws -> CommandResult {
        guard !arguments.isEmpty else { throw CommandError(.notFound, program: "", errno: ENOENT) }
        let stop = try StopLine()
        return try await withTaskCancellationHandler {
            try await OwnThread.value("command") { [self] in
                Result { try CommandRelay.run(self, stop: stop) }
            }
        } onCancel: {
            stop.pull()
        }
    }
}

/// A command that could not be run.
public struct CommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why it could not be run.
    public enum Code: Sendable, Hashable {
        /// There is no such program.
        case notFound
        /// It is there and cannot be run: no permission, no program, no memory.
        case notRunnable
    }

    public let code: Code
    public let program: String
    /// Of posix_spawn(3) or what was needed before it.
    public let errno: Int32

    init(_ code: Code, program: String, errno: Int32) {
        self.code = code
        self.program = program
        self.errno = errno
    }

    /// Makes the code out of posix_spawnp(3)'s answer.
    init(program: String, errno: Int32) {
        self.init(errno == ENOENT || errno == ENOTDIR ? .notFound : .notRunnable, program: program, errno: errno)
    }

    public var description: String {
        let advice =
            code == .notFound ? "check its name and PATH" : "check that it is a program and that this user may run it"
        return "'\(program)' cannot be run: \(SystemError.text(errno)); \(advice)"
    }
}

/// Wakes the relay's thread when the task is cancelled.
final class StopLine: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = clinux_eventfd()
        if descriptor < 0 { throw SystemError(errno: -descriptor, call: "eventfd") }
    }

    deinit { close(descriptor) }

    func pull() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }
}
