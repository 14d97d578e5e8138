internal import MeasurementModel

private let filters: [OptionSyntax] = [
    .value("client", "UUID", "Only of this client"),
    .value("type", "TYPE", "Only of this type"),
    .value("subject", "SUBJECT", "Only of this subject"),
    .value("since", "TIME", "Only received at this moment or later"),
    .value("until", "TIME", "Only received before this moment"),
]

extension ParsedArguments {
    fileprivate func measurementQuery(_ administration: Administration) throws -> MeasurementQuery {
        MeasurementQuery(
            // Also of clients that are gone.
            clientUUID: value("client")?.lowercased(), type: value("type"), subject: value("subject"), since: try time("since"),
            until: try time("until"))
    }
}

enum MeasurementListCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "measurement list", about: "Show stored measurements, the newest first",
        options: filters + [.value("limit", "N", "At most so many (default: 1000)")])

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        var query = try arguments.measurementQuery(administration)
        query.limit = try arguments.number("limit", 1...10_000_000) ?? query.limit
        let records = try administration.store.measurements(query)
        var table = TextTable("ID", "RECEIVED", "TYPE", "SUBJECT", "ENDED", "CLIENT")
        for record in records {
            table.add(
                record.id, record.receivedAt.short, record.type, record.subject, record.finishedReason ?? "",
                record.clientLabel ?? record.clientUUID)
        }
        try administration.print(.array(records.map { .object($0.json) }), table.text)
    }
}

enum MeasurementShowCommand: Subcommand {
    static let syntax = CommandSyntax(name: "measurement show", operand: "ID", about: "Print one report as JSON")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        guard let found = try administration.store.measurement(arguments.operand.lowercased()) else {
            throw CommandFailure(.notFound, "there is no measurement '\(arguments.operand)': see 'fieldprobe-server measurement list'")
        }
        try Output.print(found.document.value())
    }
}

enum MeasurementExportCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "measurement export", about: "Print reports as JSON Lines, the oldest first",
        options: filters,
        details: "One report in a line, as its device sent it. To go on later, give --since the time of the last export.")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        var query = try arguments.measurementQuery(administration)
        query.isAscending = true
        query.limit = 200
        while true {
            let page = try administration.store.measurements(query)
            for record in page {
                guard let found = try administration.store.measurement(record.id) else { continue }
                // Written again, because a document may itself have line feeds.
                try Output.print(found.document.value().text())
            }
            guard page.count == query.limit else { return }
            query.offset += page.count
        }
    }
}

extension StoredDocument {
    /// The report. It was checked when it came; a copy that has suffered on the disk is an error.
    func value() throws -> JSONValue {
        let plain = isGzip ? try Gzip.inflate(octets, limit: 1 << 30) : octets
        return try JSONValue(parsing: plain)
    }
}

extension MeasurementRecord {
    var json: JSONObject {
        JSONObject(present: [
            ("id", .string(id)), ("client_uuid", .string(clientUUID)), ("client_label", .optional(clientLabel)), ("type", .string(type)),
            ("subject", .string(subject)), ("started_at", .optional(startedAt)), ("duration_ms", .optional(durationMilliseconds)),
            ("finished_reason", .optional(finishedReason)), ("received_at", .optional(receivedAt)), ("size", .integer(size)),
        ])
    }
}
