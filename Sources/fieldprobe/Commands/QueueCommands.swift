internal import MeasurementModel
internal import MeasurementSync

/// What waits to be sent.
struct QueueListCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "queue list", about: "List the reports that wait to be sent", options: [.json],
        details: "Oldest first. The counters tell of all processes and restarts together.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let queue = UploaderFactory.queue(try Configuration(arguments))
        let pending = try queue.pending()
        let statistics = try queue.statistics
        if arguments.isSet("json") {
            let reports = pending.map { report -> JSONValue in
                .object(["id": .string(report.id), "queued_at": .string(report.queuedAt.description), "size": .integer(report.size)])
            }
            try Output.printJSON(.object(["reports": .array(reports), "statistics": statistics.json]))
            return .own(.success)
        }
        var table = TextTable(["ID", "QUEUED", "OCTETS"])
        for report in pending { table.add([report.id, report.queuedAt.description, "\(report.size)"]) }
        var lines = table.isEmpty ? ["Nothing waits to be sent."] : table.lines(style: Style(descriptor: 1), indent: "")
        lines += ["", "\(statistics.pending) of at most \(statistics.limit) wait, \(statistics.quarantined) in quarantine."]
        if let failure = statistics.lastFailure {
            lines.append("Last try failed at \(failure.at): " + TerminalText.escaped(failure.message, limit: 300))
        }
        lines.append("Ever: " + QueueCounts.fields.map { "\($0.name) \(statistics.counts[keyPath: $0.path])" }.joined(separator: ", "))
        try Output.print(lines.joined(separator: "\n") + "\n")
        return .own(.success)
    }
}

/// One report that waits.
struct QueueShowCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "queue show", operands: "ID", operandCount: 1...1, about: "Show a report that waits to be sent", options: [.json])

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let report = try UploaderFactory.queue(try Configuration(arguments)).report(id: arguments.operands[0])
        if arguments.isSet("json") {
            try Output.printJSON(report)
        } else {
            try Output.print(ReportView(report, style: Style(descriptor: 1)).text)
        }
        return .own(.success)
    }
}

/// Sends what waits, now.
struct QueueSendCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "queue send", about: "Send the reports that wait, now", options: [.json],
        details: """
            Each report is tried once. What fails stays, and is tried again by the agent or by
            the next run. Ends with 1 when not all of them were sent.
            """)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let queue = UploaderFactory.queue(configuration)
        guard let uploader = try UploaderFactory.uploader(configuration) else {
            throw CommandFailure(.failure, "no server is configured, or this device is not registered: see 'fieldprobe register --help'")
        }
        try queue.start(uploader: uploader)
        let waiting = queue.getPendingCount()
        let sent: Result<Int, QueueError>
        do throws(QueueError) { sent = .success(try await queue.sendPendingMeasurements()) } catch { sent = .failure(error) }
        let left = queue.getPendingCount()
        await queue.close()
        let count = try sent.get()
        if arguments.isSet("json") {
            try Output.printJSON(.object(["sent": .integer(count), "pending": .integer(left)]))
        } else {
            try Output.print("\(count) of \(max(waiting, count)) sent, \(left) left\n")
        }
        return .own(left == 0 ? .success : .notEverything)
    }
}

/// Back to the first state.
struct QueueResetCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "queue reset", about: "Forget failures and waiting times, and let everything be tried anew",
        details: "No report is lost by it. A process that is sending finishes its report first.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let queue = UploaderFactory.queue(try Configuration(arguments))
        queue.reset()
        try Output.print("\(try queue.statistics.pending) reports wait\n")
        return .own(.success)
    }
}
