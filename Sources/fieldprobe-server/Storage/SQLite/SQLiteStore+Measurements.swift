internal import MeasurementModel

extension SQLiteStore {
    func store(_ measurement: MeasurementRecord, _ document: StoredDocument, now: Timestamp) throws -> StoreOutcome {
        try write { database in
            // In the same transaction as the insertion: a client that is disabled meanwhile stores nothing more.
            guard let client = try Self.client(measurement.clientUUID, database, now) else { return .clientGone }
            switch client.state {
            case .elapsed: return .clientElapsed
            case .disabled: return .clientDisabled(client.disabledReason)
            case .active: break
            }
            let isNew = try database.run(
                "INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", .text(measurement.id),
                .text(measurement.clientUUID), .text(measurement.type), .text(measurement.subject), .time(measurement.startedAt),
                .optional(measurement.durationMilliseconds), .optional(measurement.finishedReason), .time(measurement.receivedAt),
                .integer(Int64(measurement.size)), .integer(document.isGzip ? 1 : 0), .octets(document.octets))
            try database.run("UPDATE clients SET last_seen_at = ? WHERE uuid = ?", .time(now), .text(client.uuid))
            guard isNew == 0 else { return .stored }
            let owner = try Self.owner(measurement.id, database)
            return owner == client.uuid ? .alreadyStored : .ofAnotherClient
        }
    }

    private static func owner(_ id: String, _ database: Database) throws -> String? {
        try database.row("SELECT client_uuid FROM measurements WHERE id = ?", .text(id)) { $0.text(0) }
    }

    func owner(ofMeasurement id: String) throws -> String? { try read { try Self.owner(id, $0) } }

    func measurement(_ id: String) throws -> (record: MeasurementRecord, document: StoredDocument)? {
        try read { database in
            try database.row("SELECT \(Self.columns), is_gzip, document FROM \(Self.tables) WHERE id = ?", .text(id)) { row in
                (Self.record(row), StoredDocument(octets: row.octets(11), isGzip: row.integer(10) == 1))
            }
        }
    }

    func measurements(_ query: MeasurementQuery) throws -> [MeasurementRecord] {
        var conditions: [String] = []
        var values: [SQLValue] = []
        func add(_ condition: String, _ value: SQLValue?) {
            guard let value else { return }
            conditions.append(condition)
            values.append(value)
        }
        add("client_uuid = ?", query.clientUUID.map { .text($0) })
        add("type = ?", query.type.map { .text($0) })
        add("subject = ?", query.subject.map { .text($0) })
        add("received_at >= ?", query.since.map { .time($0) })
        add("received_at < ?", query.until.map { .time($0) })
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let order = query.isAscending ? "received_at, id" : "received_at DESC, id DESC"
        let text = "SELECT \(Self.columns) FROM \(Self.tables) \(filter) ORDER BY \(order) LIMIT \(query.limit) OFFSET \(query.offset)"
        return try read { try $0.rows(text, values, Self.record) }
    }

    private static let tables = "measurements LEFT JOIN clients ON uuid = client_uuid"
    private static let columns =
        "id, client_uuid, clients.label, type, subject, started_at, duration_ms, finished_reason, received_at, size"

    private static func record(_ row: SQLRow) -> MeasurementRecord {
        MeasurementRecord(
            id: row.text(0), clientUUID: row.text(1), clientLabel: row.optionalText(2), type: row.text(3), subject: row.text(4),
            startedAt: row.optionalTime(5), durationMilliseconds: row.optionalInteger(6), finishedReason: row.optionalText(7),
            receivedAt: row.time(8), size: row.integer(9))
    }

    func totals(now: Timestamp) throws -> Totals {
        try read { database in
            var totals = Totals()
            let states = try database.rows(
                """
                SELECT CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN elapsed_at IS NOT NULL OR usage_until <= ? THEN 'elapsed'
                ELSE 'active' END AS state, count(*) FROM clients GROUP BY state
                """, [.time(now)]
            ) { (Client.State(rawValue: $0.text(0)), $0.integer(1)) }
            for (state, count) in states { if let state { totals.clients[state] = count } }
            totals.keys = try database.row("SELECT count(*) FROM keys WHERE revoked_at IS NULL") { $0.integer(0) } ?? 0
            let sums = try database.row("SELECT count(*), coalesce(sum(size), 0) FROM measurements") { ($0.integer(0), $0.integer(1)) }
            (totals.measurements, totals.octets) = sums ?? (0, 0)
            totals.measurementsToday =
                try database.row(
                    "SELECT count(*) FROM measurements WHERE received_at >= ?", .time(now.adding(milliseconds: -86_400_000))
                ) { $0.integer(0) } ?? 0
            return totals
        }
    }

    func kinds() throws -> [TestKind] {
        try read {
            try $0.rows("SELECT DISTINCT type, subject FROM measurements ORDER BY type, subject LIMIT 200") {
                TestKind(type: $0.text(0), subject: $0.text(1))
            }
        }
    }
}
