internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import QualityTests

/// The collectors' view, live: the same host and recorder as beside a test, but nothing is kept and nothing sent.
struct WatchCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "watch", about: "Show what the collectors see, a line for each change",
        options: [
            .value("collector", "NAME", repeatable: true, "Only this collector (default: all that are enabled)"),
            CollectorSelection.with,
            .value("duration", "DURATION", "End after so long, such as 10s (default: at Ctrl-C)"),
            .value("target", "HOST", "Host or address that the path is looked up to"),
            .value("purpose", "KEY", "Purpose from the configuration, whose permissions are granted for this run"), .json,
        ],
        details: """
            With '--json' each line is an object with 'trace' and one of 'snapshot', 'gap', or
            'state' with 'reason'. Nothing is kept and nothing is sent.
            """, listsConfiguration: true)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let permissions = try configuration.permissions(purpose: arguments.value("purpose"))
        let duration = try arguments.value("duration", "a duration of at most 10 years such as 10s", ConfigurationValue.duration)
        let host = try TestOptions.target(arguments, configuration)
        let collectors = try CollectorSelection.running(configuration, only: arguments.all("collector"), arguments)
        let signals = try EndSignals()
        let printer = try LinePrinter(descriptor: 1)
        let format: @Sendable (String, TraceEvent.Kind) -> String = arguments.isSet("json") ? WatchLine.json : WatchLine.text

        var settings = CollectorHost.Settings()
        settings.keepsSnapshots = false
        settings.logger = TestOptions.logger
        settings.observer = { printer.put(format($0.trace, $0.kind)) }
        let target = host.map { SessionTarget(host: $0) } ?? SessionTarget()
        let run = CollectorHost(collectors: collectors, settings: settings)
            .start(kind: TestKind(type: "NONE", subject: "watch"), target: target, permissions: permissions)
        TargetResolver.start(target, clock: settings.clock, logger: settings.logger)
        if isatty(2) != 0, isatty(1) != 0, duration == nil {
            Output.complain("watching \(collectors.count) collectors, Ctrl-C ends")
        }
        let end = duration.map { MonotonicInstant.now() + $0 }
        _ = try await OwnThread.value("watch") { .success(signals.wait(or: printer.ended, until: end)) }
        let outcome = await run.finish()
        printer.finish()
        for record in outcome.records { for line in WatchEnd.lines(record) { Output.complain(line) } }
        guard printer.failure == 0 else {
            throw CommandFailure(.failure, "standard output cannot be written: \(SystemError.text(printer.failure))")
        }
        return .own(.success)
    }
}

/// What is said of a collector when the view ends.
enum WatchEnd {
    static func lines(_ record: CollectorRecord) -> [String] {
        let name = TerminalText.escaped(record.name)
        var lines: [String] = []
        let why = TerminalText.escaped(record.detail ?? record.reason ?? "no reason told", limit: 500)
        switch record.state {
        case .failed, .stuck: lines.append("collector \(name): \(record.state.rawValue), \(why)")
        case .unavailable where record.trace.isEmpty: lines.append("collector \(name): \(why); does it flush its first line?")
        case .ok where record.recorded + record.suppressed == 0 && record.rejected.isEmpty && record.gaps.isEmpty:
            lines.append("collector \(name): said nothing; a program has to flush each line")
        case .ok, .unavailable, .denied: break
        }
        if !record.rejected.isEmpty {
            let refused = record.rejected.sorted { $0.key < $1.key }.prefix(10).map { "\(TerminalText.escaped($0.key)) (\($0.value))" }
            lines.append("collector \(name): refused: \(refused.joined(separator: ", "))")
        }
        return lines
    }
}

/// One event as one line.
enum WatchLine {
    @Sendable static func json(_ trace: String, _ kind: TraceEvent.Kind) -> String {
        var object: JSONObject = ["trace": .string(trace)]
        switch kind {
        case .snapshot(let snapshot): object["snapshot"] = snapshot.json
        case .gap(let gap): object["gap"] = gap.json
        case .state(let state, let reason):
            object["state"] = .string(state.rawValue)
            object["reason"] = reason.map(JSONValue.string)
        }
        return JSONValue.object(object).text()
    }

    @Sendable static func text(_ trace: String, _ kind: TraceEvent.Kind) -> String {
        let trace = TerminalText.escaped(trace)
        switch kind {
        case .snapshot(let snapshot):
            let fields = snapshot.fields.map { field in "\(field.name)=\(TerminalText.escaped(field.value.json?.text() ?? "", limit: 200))"
            }
            return "\(Numbers.seconds(snapshot.offset.milliseconds))  \(trace)  \(fields.joined(separator: " "))"
        case .gap(let gap):
            let from = Numbers.seconds(gap.from.milliseconds)
            let end = gap.to.map { "until \(Numbers.seconds($0.milliseconds))" } ?? "begins"
            return "\(from)  \(trace)  gap \(TerminalText.escaped(gap.reason)) \(end)"
        case .state(let state, let reason):
            return "\(trace)  is \(state.rawValue)\(reason.map { ": " + TerminalText.escaped($0) } ?? "")"
        }
    }
}
