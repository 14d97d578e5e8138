internal import CollectorCore
internal import CollectorTestKit
internal import ExternalCollector
internal import MeasurementModel

/// Runs a collector through the contract, and tells its author what to change.
struct CollectorsCheckCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "collectors check", operands: "WHAT", operandCount: 1...1, about: "Run a collector through the conformance kit",
        options: [
            .value("runs", "COUNT", "Starts and stops (default: 100)"),
            .value("observation", "DURATION", "How long to watch it in one run (default: 2s)"),
            .value("target", "HOST", "Address that the tests measure against"), .json,
        ],
        details: """
            WHAT is the name of a collector that 'fieldprobe collectors list' shows, or a file:
            a program, or a shared library whose name ends in '.so'. A file is run as this user,
            without its configuration. It takes about half a minute, and ends with 0 if the
            collector conforms and with 1 if it does not. Every permission is granted
            for it, and no value that the collector sees is kept or shown.
            """)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let collector = try await collector(arguments.operands[0], configuration, arguments)
        var settings = CollectorConformance.Settings()
        settings.ownsProcess = true
        settings.runs =
            try arguments.value("runs", "a whole number from 1 to 100000", { Int($0).flatMap { (1...100_000).contains($0) ? $0 : nil } })
            ?? settings.runs
        settings.observation =
            try arguments.value("observation", "a duration of at most 10 years such as 5s", ConfigurationValue.duration)
            ?? settings.observation
        settings.targetHost = try TestOptions.target(arguments)
        let isForPrograms = arguments.isSet("json")
        let printer = ProgressPrinter(isSilent: isForPrograms)
        var verdict: Verdict
        if let program = collector as? ProgramCollector {
            verdict = await ProgramConformance(program, settings: settings).run { printer.put($0) }
        } else {
            verdict = await CollectorConformance(collector, settings: settings).run { printer.put($0) }
        }
        let more = await Installation.checks(arguments.operands[0], configuration)
        for result in more { printer.put(result) }
        verdict = verdict.adding(more)
        if isForPrograms {
            try Output.printJSON(verdict.json)
        } else {
            let style = Style(descriptor: 1)
            let summary = TerminalText.escaped(verdict.summary, limit: 300)
            try Output.print("\n\(verdict.isConforming ? style.green(summary) : style.red(summary))\n")
        }
        return .own(verdict.isConforming ? .success : .notEverything)
    }

    private static func collector(_ what: String, _ configuration: Configuration, _ arguments: ParsedArguments) async throws
        -> any Collector
    {
        if what.contains("/") { return try CollectorSelection.program(what, arguments) }
        let entry: CollectorEntry
        do { entry = try CollectorSelection.find(what, in: CollectorSelection.all(configuration)) } catch {
            throw arguments.fault("\(error); a file is named by a path, such as ./\(what)")
        }
        if let refusal = entry.refusal { throw CommandFailure(.failure, "collector \(entry.name) must not run: \(refusal)") }
        // What is wrong with its configuration is no fault of the collector.
        do { _ = try await entry.describe() } catch let failure as CollectorFailure where failure.reason == "bad_configuration" {
            throw CommandFailure(.configuration, "collector \(entry.name): \(failure)")
        } catch {}
        return entry.collector
    }
}

/// What the contract does not say, and this machine will, once the collector is installed.
private enum Installation {
    static func checks(_ what: String, _ configuration: Configuration) async -> [CheckResult] {
        guard what.contains("/"), let descriptor = try? await CollectorSelection.file(what).describe() else { return [] }
        var results: [CheckResult] = []
        let file = what.split(separator: "/").last.map(String.init) ?? what
        let name = file.hasSuffix(".so") ? String(file.dropLast(3)) : file
        if name != descriptor.name {
            results.append(
                CheckResult(
                    name: "file_name", title: "The file has the collector's name",
                    outcome: .noted("the file is '\(name)', and the collector calls itself '\(descriptor.name)'"),
                    remedy: "Give both the same name: an installed collector is known by its file."))
        }
        let own = BuiltInCollectors.all(configuration).map(\.descriptor)
        if let owner = own.first(where: { $0.trace == descriptor.trace || $0.name == descriptor.name }) {
            results.append(
                CheckResult(
                    name: "taken", title: "Name and trace are free", outcome: .failed,
                    problem: "'\(owner.name)' with the trace '\(owner.trace)' is a built-in collector",
                    remedy: "Choose another name and another key for the trace."))
        }
        return results
    }
}

/// Shows each result as it comes.
private struct ProgressPrinter: Sendable {
    let isSilent: Bool

    func put(_ result: CheckResult) {
        guard !isSilent else { return }
        let style = Style(descriptor: 1)
        let lines = result.text.split(separator: "\n").map { TerminalText.escaped(String($0), limit: 1000) }
        let first = result.isFailed ? style.red(lines[0]) : lines[0]
        try? Output.print(([first] + lines.dropFirst()).joined(separator: "\n") + "\n")
    }
}
