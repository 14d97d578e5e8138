internal import MeasurementModel

extension SQLiteStore {
    func client(_ uuid: String, now: Timestamp) throws -> Client? { try read { try Self.client(uuid, $0, now) } }

    static func client(_ uuid: String, _ database: Database, _ now: Timestamp) throws -> Client? {
        try database.row("\(clientQuery) WHERE uuid = ?2", .time(now), .text(uuid), make: client)
    }

    func clients(_ query: ClientQuery, now: Timestamp) throws -> [Client] {
        var conditions: [String] = []
        var values: [SQLValue] = [.time(now)]
        func add(_ condition: String, _ value: SQLValue) {
            values.append(value)
            conditions.append(condition.replacing("?", with: "?\(values.count)"))
        }
        if let keyID = query.keyID { add("key_id = ?", .text(keyID)) }
        if let text = query.text { add("(instr(lower(coalesce(label, '')), lower(?)) > 0 OR instr(uuid, lower(?)) = 1)", .text(text)) }
        let elapsed = "(elapsed_at IS NOT NULL OR usage_until <= ?1)"
        switch query.state {
        case .active: conditions.append("NOT coalesce(\(elapsed), 0) AND disabled_at IS NULL")
        case .disabled: conditions.append("disabled_at IS NOT NULL")
        case .elapsed: conditions.append("\(elapsed) AND disabled_at IS NULL")
        case nil: break
        }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let text = "\(Self.clientQuery) \(filter) ORDER BY registered_at DESC, uuid LIMIT \(query.limit) OFFSET \(query.offset)"
        return try read { try $0.rows(text, values, Self.client) }
    }

    func clientUUIDs(beginning prefix: String) throws -> [String] {
        try read { try $0.rows("SELECT uuid FROM clients WHERE instr(uuid, ?) = 1 LIMIT 2", [.text(prefix)]) { $0.text(0) } }
    }

    func disable(_ uuid: String, reason: String?, now: Timestamp) throws -> ClientChange {
        try write { database in
            try Self.endUsageWindows(database, now)
            guard let client = try Self.client(uuid, database, now) else { return .unknown }
            guard client.state != .disabled || client.disabledReason != reason else { return .unchanged }
            try database.run(
                "UPDATE clients SET disabled_at = coalesce(disabled_at, ?), disabled_reason = ? WHERE uuid = ?", .time(now),
                .optional(reason), .text(uuid))
            return .done
        }
    }

    func enable(_ uuid: String, now: Timestamp) throws -> ClientChange {
        try write { database in
            try Self.endUsageWindows(database, now)
            guard let client = try Self.client(uuid, database, now) else { return .unknown }
            guard client.elapsedAt == nil else { return .elapsed }
            guard client.state == .disabled else { return .unchanged }
            if let key = try Self.key(client.keyID, database, now), let devices = key.devices, key.used >= devices { return .exhausted }
            try database.run("UPDATE clients SET disabled_at = NULL, disabled_reason = NULL WHERE uuid = ?", .text(uuid))
            return .done
        }
    }

    func adopt(_ uuid: String, machine: String) throws {
        _ = try write { try $0.run("UPDATE clients SET machine = ? WHERE uuid = ?", .text(machine), .text(uuid)) }
    }

    func markSeen(_ uuid: String, now: Timestamp) throws {
        _ = try write { try $0.run("UPDATE clients SET last_seen_at = ? WHERE uuid = ?", .time(now), .text(uuid)) }
    }

    func removeClient(_ uuid: String) throws -> Bool {
        try write { try $0.run("DELETE FROM clients WHERE uuid = ?", .text(uuid)) == 1 }
    }

    /// A window that is over counts as over, also when nobody has swept since.
    private static let clientQuery = """
        SELECT uuid, key_id, label, tags, machine, secret, registered_at, usage_until,
        coalesce(elapsed_at, CASE WHEN usage_until <= ?1 THEN usage_until END), disabled_at, disabled_reason, last_seen_at FROM clients
        """

    private static func client(_ row: SQLRow) -> Client {
        Client(
            uuid: row.text(0), keyID: row.text(1), label: row.optionalText(2), tags: row.texts(3), machine: row.text(4),
            secret: row.text(5), registeredAt: row.time(6), usageUntil: row.optionalTime(7), elapsedAt: row.optionalTime(8),
            disabledAt: row.optionalTime(9), disabledReason: row.optionalText(10), lastSeenAt: row.optionalTime(11))
    }
}
