internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// Writes a collector to begin with.
struct CollectorsNewCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "collectors new", operands: "NAME", operandCount: 1...1, about: "Write a collector to begin with, and its test",
        options: [
            .value("language", "LANGUAGE", "One of \(Skeleton.Language.allCases.map(\.rawValue).joined(separator: ", ")): must be given"),
            .value("directory", "DIR", "Folder to make the collector's folder in (default: this one)"),
            .value(
                "package", "PATH", "Where a Swift collector finds FieldProbe, a folder or an address (default: \(Skeleton.placeholder))"),
        ],
        details: """
            Makes the folder NAME with a collector that works and is meant to be changed: in c a
            shared library, in python and sh a program, in swift a package to link into an app.
            A folder that exists is left alone. The way on: docs/writing-a-collector.md
            """)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let name = arguments.operands[0]
        let known = Skeleton.Language.allCases.map(\.rawValue).joined(separator: ", ")
        guard let language = try arguments.value("language", "one of \(known)", Skeleton.Language.init(rawValue:)) else {
            throw arguments.fault("'--language' is missing: one of \(known)")
        }
        if let problem = Skeleton.problem(ofName: name, language: language) {
            throw arguments.fault("a collector cannot have this name: \(problem)")
        }
        let own = BuiltInCollectors.all(Configuration()).map(\.descriptor.name)
        guard !own.contains(name) else { throw arguments.fault("a collector cannot have this name: '\(name)' is a built-in one") }
        var skeleton = Skeleton(name: name, language: language)
        if let package = arguments.value("package") {
            guard language == .swift else { throw arguments.fault("'--package' is for Swift collectors only") }
            guard !package.isEmpty else { throw arguments.fault("'--package' is empty") }
            skeleton.package = absolute(package)
            let isAddress = package.contains("://") || package.hasPrefix("git@")
            guard isAddress || access("\(package)/Package.swift", F_OK) == 0 else {
                throw arguments.fault(
                    "'--package \(package)': there is no Package.swift; name the folder or the address of FieldProbe's sources")
            }
        }
        let directory = arguments.value("directory") ?? "."
        guard !directory.isEmpty else { throw arguments.fault("'--directory' is empty") }
        let folder = directory == "." ? name : (directory.hasSuffix("/") ? directory : directory + "/") + name
        let written = try write(skeleton, to: folder)
        try Output.print(text(written, skeleton, folder))
        return .own(.success)
    }

    private static func text(_ written: [(path: String, about: String)], _ skeleton: Skeleton, _ folder: String) -> String {
        var lines = ["Written:"] + Help.columns(written) + ["", "Next:", "  cd \(folder)"]
        lines += skeleton.nextCommands.map { "  \($0)" }
        if skeleton.language == .swift, skeleton.package == Skeleton.placeholder {
            lines += ["", "Package.swift looks for FieldProbe in \(Skeleton.placeholder): change that line if it is elsewhere."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func write(_ skeleton: Skeleton, to folder: String) throws -> [(path: String, about: String)] {
        guard mkdir(folder, 0o777) == 0 else {
            switch errno {
            case EEXIST:
                throw CommandFailure(.usage, "\(folder) exists already, and is left as it is: choose another name or '--directory'")
            case ENOENT, ENOTDIR: throw CommandFailure(.usage, "\(folder) cannot be made: the folder that it would be in does not exist")
            default: throw CommandFailure(.failure, "\(folder) cannot be made: \(SystemError.text(errno))")
            }
        }
        var written: [(path: String, about: String)] = []
        for file in skeleton.files {
            let path = folder + "/" + skeleton.filled(file.path)
            try makeFolders(of: path, below: folder)
            // Exclusively: whatever somebody else puts there meanwhile is theirs.
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.isExecutable ? 0o777 : 0o666)
            guard descriptor >= 0 else { throw failure(path, errno) }
            let error = Output.write(Array(skeleton.filled(file.text).utf8), to: descriptor)
            guard close(descriptor) == 0, error == 0 else { throw failure(path, error == 0 ? errno : error) }
            written.append((path, file.about))
        }
        return written
    }

    private static func makeFolders(of path: String, below folder: String) throws {
        var made = folder
        for part in path.dropFirst(folder.count).split(separator: "/").dropLast() {
            made += "/" + part
            guard mkdir(made, 0o777) == 0 || errno == EEXIST else { throw failure(made, errno) }
        }
    }

    private static func failure(_ path: String, _ errno: Int32) -> CommandFailure {
        CommandFailure(.failure, "\(path) cannot be written: \(SystemError.text(errno)); what is there of it can be removed")
    }

    /// A folder is meant from here, and Package.swift would look for it from the collector's.
    private static func absolute(_ package: String) -> String {
        guard !package.contains("://"), !package.hasPrefix("/"), let resolved = realpath(package, nil) else { return package }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
