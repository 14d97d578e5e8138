internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import QualityTests

/// Runs somebody else's command as a test.
struct RunCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "run", operands: "COMMAND...", operandCount: 1...Int.max, about: "Run a command as a test, with the collectors beside it",
        options: TestOptions.options, endsAtOperand: true,
        details: """
            The command keeps its terminal, its signals and its exit status: 'fieldprobe run'
            ends as the command ended, after the report is written. The type is NETWORK and
            the subject the command's name, unless others are given. Standard output becomes
            the report's result: as it is, if it is one JSON document, else as text, up to
            256 KiB. With '--output -' or '--json' standard output is the report's, and what
            the command prints goes to standard error. Without '--output' the report is shown
            on standard error.
            """, listsConfiguration: true)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let permissions = try configuration.permissions(purpose: arguments.value("purpose"))
        let target = try TestOptions.target(arguments, configuration)
        let output = try TestOptions.output(arguments)
        do {
            return try await run(arguments, configuration, permissions, target, output)
        } catch {
            output.abandon()
            throw error
        }
    }

    private static func run(
        _ arguments: ParsedArguments, _ configuration: Configuration, _ permissions: Permissions, _ target: String?,
        _ output: ReportFile
    ) async throws -> Ending {
        var settings = CommandMeasurement.Settings()
        settings.standardOutput = output.isStandardOutput ? 2 : 1
        settings.standardError = 2
        settings.descriptors = ProcessSetup.inheritedDescriptors
        settings.signals = try SignalRelay(wasPipeIgnored: ProcessSetup.wasPipeIgnored)
        let gate = try await TestGateChoice.gate(arguments, configuration)
        let sync = try ReportSync(arguments, configuration)
        let command = CommandMeasurement(arguments.operands, settings: settings)
        let test = try QualityTest(
            type: arguments.value("type") ?? "NETWORK", subject: arguments.value("subject") ?? command.program, gate: gate,
            target: target, collectors: CollectorSelection.running(configuration, arguments),
            permissions: permissions,
            settings: TestOptions.settings(activity: sync.activity))
        var ending = Ending.own(.failure)
        var failure: (any Error)?
        let report = try await test.run { session in
            do {
                let result = try await session.withinGrant { try await command.run() }
                ending = .command(result.ending)
                return result
            } catch {
                failure = error
                throw error
            }
        }
        if let failure {
            Output.complain("\(failure)")
            if let error = failure as? CommandError { ending = .own(error.code == .notFound ? .notFound : .notRunnable) }
        }
        try TestOptions.deliver(report, to: output, showOn: 2, arguments)
        await sync.send()
        return ending
    }
}
