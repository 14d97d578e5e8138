internal import CollectorCore
internal import ExternalCollector
internal import Glibc
internal import MeasurementModel

/// One collector that this program knows, from wherever.
struct CollectorEntry: Sendable {
    let name: String
    let collector: any Collector
    /// `built in`, or the file.
    let source: String
    let isEnabled: Bool

    /// Why it must not run; nil for one that may.
    var refusal: String? { (collector as? RefusedCollector)?.failure.description }

    init(name: String, collector: any Collector, source: String, isEnabled: Bool) {
        self.name = name
        self.collector = collector
        self.source = source
        self.isEnabled = isEnabled
    }

    static func refused(_ name: String, _ source: String, _ why: String, isEnabled: Bool = true) -> CollectorEntry {
        CollectorEntry(name: name, collector: RefusedCollector(name: name, why: why), source: source, isEnabled: isEnabled)
    }

    /// What it declares.
    ///
    /// - Throws: ``CollectorFailure`` when it cannot be asked, or would not be started.
    func describe(refusesUnknownKeys: Bool = true) async throws -> CollectorDescriptor {
        if let refused = collector as? RefusedCollector { throw refused.failure }
        guard var program = collector as? ProgramCollector else { return collector.descriptor }
        program.refusesUnknownKeys = refusesUnknownKeys
        return try await program.describe()
    }
}

/// The collectors of one call of the program: built in, installed, and named on the command line.
enum CollectorSelection {
    static let with = OptionSyntax.value(
        "with", "PROGRAM", repeatable: true, "Also run this collector: a program, or a library whose name ends in '.so'")

    /// Every collector, also those that the configuration turns off.
    static func all(_ configuration: Configuration) -> [CollectorEntry] {
        let enabled = Set(BuiltInCollectors.enabled(configuration).map(\.descriptor.name))
        let own = BuiltInCollectors.all(configuration).map { collector in
            let name = collector.descriptor.name
            return CollectorEntry(name: name, collector: collector, source: "built in", isEnabled: enabled.contains(name))
        }
        let reserved = Self.reserved
        let installed = InstalledCollectors(configuration).entries(besides: Set(own.map(\.name))).map { entry in
            guard var program = entry.collector as? ProgramCollector else { return entry }
            program.reservedTraces = reserved
            return CollectorEntry(name: entry.name, collector: program, source: entry.source, isEnabled: entry.isEnabled)
        }
        return own + installed
    }

    /// The built-in collectors' traces, which mean the same in every report.
    private static var reserved: Set<String> {
        Set(BuiltInCollectors.all(Configuration()).map(\.descriptor.trace))
    }

    /// Those that run beside a test.
    static func running(_ configuration: Configuration, _ arguments: ParsedArguments) throws -> [any Collector] {
        try all(configuration).filter(\.isEnabled).map(\.collector) + named(arguments)
    }

    /// The named ones, or all that run.
    ///
    /// - Throws: ``CommandFailure`` for a name that no collector has.
    static func running(_ configuration: Configuration, only names: [String], _ arguments: ParsedArguments) throws -> [any Collector] {
        let entries = all(configuration)
        for name in names { _ = try find(name, in: entries) }
        let chosen = names.isEmpty ? entries.filter(\.isEnabled) : entries.filter { names.contains($0.name) }
        return try chosen.map(\.collector) + named(arguments)
    }

    static func find(_ name: String, in entries: [CollectorEntry]) throws -> CollectorEntry {
        guard let entry = entries.first(where: { $0.name == name }) else {
            let known = entries.map(\.name).joined(separator: ", ")
            throw CommandFailure(.usage, "there is no collector '\(name)': there are \(known)")
        }
        return entry
    }

    private static func named(_ arguments: ParsedArguments) throws -> [any Collector] {
        let reserved = Self.reserved
        return try arguments.all("with").map { path in
            guard path.contains("/") else {
                throw arguments.fault("'--with \(path)' needs a path, such as ./\(path); an installed collector runs by itself")
            }
            var collector = try program(path, arguments)
            let shown = TerminalText.escaped(collector.descriptor.name)
            collector.reservedTraces = reserved
            // Whoever names it works on it: what beside a test nobody wants to hear is told here.
            collector.observer = AuthorsView(name: shown).observer
            return collector
        }
    }

    /// A collector by its file.
    ///
    /// - Throws: ``CommandFailure`` for what cannot be one.
    static func program(_ path: String, _ arguments: ParsedArguments) throws -> ProgramCollector {
        if let problem = problem(with: path) { throw arguments.fault(problem) }
        return file(path)
    }

    static func file(_ path: String) -> ProgramCollector {
        path.hasSuffix(".so") ? ProgramCollector(library: path) : ProgramCollector(program: path)
    }

    private static func problem(with path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return "\(path) cannot be run: \(SystemError.text(errno))" }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            let swift = access("\(path)/Package.swift", F_OK) == 0
            return swift
                ? "\(path) is a Swift package: it is linked into an app, and its own test runs the conformance kit ('swift test')"
                : "\(path) is a folder: name the program or the library in it"
        }
        if [".c", ".cc", ".cpp", ".rs", ".go", ".zig", ".swift"].contains(where: path.hasSuffix) {
            return "\(path) is a source text: build it, and name the program or the library ('.so')"
        }
        guard path.hasSuffix(".so") || access(path, X_OK) == 0 else { return "\(path) is not executable: chmod +x \(path)" }
        return nil
    }
}
