internal import MeasurementModel
internal import MeasurementSync

/// What was moved aside.
struct QuarantineListCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "queue quarantine list", about: "List what was refused for good, or is no report", options: [.json],
        details: "The files are in the state directory's folder 'quarantine'. The newest 100 are kept.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let reports = try UploaderFactory.queue(try Configuration(arguments)).quarantined()
        if arguments.isSet("json") {
            try Output.printJSON(.array(reports.map(json)))
            return .own(.success)
        }
        var table = TextTable(["ID", "SINCE", "OCTETS", "REASON", "DETAIL"])
        for report in reports {
            let detail = TerminalText.escaped(report.detail ?? "", limit: 200)
            table.add([report.id ?? report.file, report.since.description, "\(report.size)", report.code, detail])
        }
        let lines = table.isEmpty ? ["Nothing is in quarantine."] : table.lines(style: Style(descriptor: 1), indent: "")
        try Output.print(lines.joined(separator: "\n") + "\n")
        return .own(.success)
    }

    private static func json(_ report: QuarantinedReport) -> JSONValue {
        var object: JSONObject = [
            "file": .string(report.file), "code": .string(report.code), "size": .integer(report.size),
            "since": .string(report.since.description),
        ]
        object["id"] = report.id.map(JSONValue.string)
        object["detail"] = report.detail.map(JSONValue.string)
        return .object(object)
    }
}

/// Gives a report another chance.
struct QuarantineRetryCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "queue quarantine retry", operands: "ID", operandCount: 1...1, about: "Put a report back into the queue",
        details: "It is sent by the agent, by the next run, or by 'fieldprobe queue send'.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let queue = UploaderFactory.queue(try Configuration(arguments))
        try queue.retryQuarantined(id: arguments.operands[0])
        try Output.print("\(arguments.operands[0]) waits to be sent\n")
        return .own(.success)
    }
}
