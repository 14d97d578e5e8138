internal import CLinux
internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// How a foreign collector is started: by the bundled launcher, which takes on user and limits and then becomes the program.
struct LaunchCommand {
    let collector: ProgramCollector.Source
    let settings: ProgramCollector.Settings
    private let host: String

    init(_ collector: ProgramCollector.Source, settings: ProgramCollector.Settings) throws(CollectorFailure) {
        // Where everything is started, and not before a test: a path may lead into a file system that hangs.
        if settings.requiresTrust, let problem = FileTrust.problem(with: collector.path) {
            throw CollectorFailure(
                "refused", "its file, or something on the way to it, is not root's alone: 'fieldprobe collectors list' says what",
                local: problem)
        }
        self.collector = collector
        self.settings = settings
        host = try HostProgram.path(settings.hostProgram)
    }

    var arguments: [String] {
        let limits = settings.limits
        var arguments = [
            host, "launch", "--parent", "\(getpid())", "--memory", "\(limits.memory)", "--files", "\(limits.descriptors)",
        ]
        if let user = settings.user { arguments += ["--user", user] }
        arguments.append("--")
        switch collector {
        case .program(let path, let words): arguments += [path] + words
        case .library(let path): arguments += [host, "library", path]
        }
        return arguments
    }

    /// All of it: nothing of this process's environment is handed down.
    var environment: [String] {
        [
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
            "FIELDPROBE_PROTOCOL=\(HostMessage.protocolVersion)",
        ]
    }

    func cannotStartHost(errno: Int32) -> CollectorFailure {
        let why = "which starts collectors, cannot be run: \(SystemError.text(errno)); install it anew"
        return CollectorFailure("no_host", "\(HostProgram.name), \(why)", local: "\(host), \(why)")
    }

    /// In words, what the launcher could not do.
    func failure(stage: String, errno: Int32) -> CollectorFailure {
        switch stage {
        case "exec": return cannotRun(errno)
        case "user" where errno == EPERM:
            return CollectorFailure(
                "bad_user", "only root can run a collector as another user, and it shall run as '\(settings.user ?? "")'")
        case "user":
            let why = errno == ENOENT ? "there is no such user" : SystemError.text(errno)
            return CollectorFailure("bad_user", "the collector shall run as the user '\(settings.user ?? "")': \(why)")
        default:
            return CollectorFailure("no_resources", "the collector's \(stage) cannot be set: \(SystemError.text(errno))")
        }
    }

    /// By execve(2).
    private func cannotRun(_ errno: Int32) -> CollectorFailure {
        let path = collector.path
        switch errno {
        case ENOENT, ENOTDIR:
            if access(path, F_OK) == 0 {
                return about("not_runnable") { "\($0): the interpreter that its first line names does not exist" }
            }
            return about("not_found") { "\($0): there is no such program" }
        case EACCES: return about("not_runnable") { "\($0) is not executable: chmod +x it, and its folders too" }
        case ENOEXEC:
            return about("not_runnable") {
                "\($0) is no program for this machine: built for another architecture, or a script without a '#!' line"
            }
        default: return about("not_runnable") { "\($0) cannot be run: \(SystemError.text(errno))" }
        }
    }

    /// The report has the file's name, and people at this machine the path, in which there may be a person's name.
    private func about(_ reason: StateReason, _ text: (String) -> String) -> CollectorFailure {
        CollectorFailure(reason, text(collector.file), local: text(collector.path))
    }
}

/// The bundled program that starts collectors and loads libraries: `fieldprobe-collector-host`.
public enum HostProgram {
    public static let name = "fieldprobe-collector-host"

    /// Beside this program, else where packages put it.
    ///
    /// - Throws: ``CollectorFailure`` that says where it was looked for.
    static func path(_ given: String?) throws(CollectorFailure) -> String {
        if let given { return given }
        let places = [folderOfThisProgram, "/usr/lib/fieldprobe", "/usr/local/lib/fieldprobe", "/usr/local/bin", "/usr/bin"].compactMap {
            $0
        }
        for folder in places where access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
        throw CollectorFailure(
            "no_host", "\(name), which starts collectors, is not installed",
            local: "\(name), which starts collectors, is in none of \(places.joined(separator: ", ")): install it there")
    }

    private static var folderOfThisProgram: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
        guard count > 0, let path = String(validating: buffer[..<count], as: UTF8.self), let slash = path.lastIndex(of: "/") else {
            return nil
        }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
