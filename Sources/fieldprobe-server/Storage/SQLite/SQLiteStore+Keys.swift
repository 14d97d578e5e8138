internal import MeasurementModel

extension SQLiteStore {
    func create(_ capability: Capability, replacing: Bool) throws -> Bool {
        func list(_ values: [String]) -> SQLValue { .text(JSONValue.strings(values).text()) }
        return try write { database in
            let onConflict =
                replacing
                ? """
                UPDATE SET allow_types = excluded.allow_types, allow_subjects = excluded.allow_subjects,
                forbid_types = excluded.forbid_types, forbid_subjects = excluded.forbid_subjects
                """ : "NOTHING"
            return try database.run(
                "INSERT INTO capabilities VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO \(onConflict)", .text(capability.name),
                list(capability.allowTypes), list(capability.allowSubjects), list(capability.forbidTypes), list(capability.forbidSubjects))
                == 1
        }
    }

    private static func capability(_ row: SQLRow) -> Capability {
        Capability(
            name: row.text(0), allowTypes: row.texts(1), allowSubjects: row.texts(2), forbidTypes: row.texts(3),
            forbidSubjects: row.texts(4))
    }

    func capabilities() throws -> [Capability] {
        try read { try $0.rows("SELECT * FROM capabilities ORDER BY name", [], Self.capability) }
    }

    func capability(_ name: String) throws -> Capability? {
        try read { try $0.row("SELECT * FROM capabilities WHERE name = ?", .text(name), make: Self.capability) }
    }

    func create(_ key: RegistrationKey) throws {
        try write { database in
            _ = try database.run(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", .text(key.id), .octets(key.hash), .optional(key.note),
                .optional(key.devices), .optional(key.usageDays), .time(key.validFrom), .time(key.validUntil), .optional(key.capability),
                .time(key.createdAt))
        }
    }

    func keys(now: Timestamp) throws -> [RegistrationKey] {
        try read { try $0.rows("\(Self.keyQuery) ORDER BY created_at, id", [.time(now)], Self.key) }
    }

    func key(_ id: String, now: Timestamp) throws -> RegistrationKey? { try read { try Self.key(id, $0, now) } }

    func revokeKey(_ id: String, now: Timestamp) throws -> Bool {
        try write { try $0.run("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", .time(now), .text(id)) == 1 }
    }

    static func key(_ id: String, _ database: Database, _ now: Timestamp) throws -> RegistrationKey? {
        try database.row("\(keyQuery) WHERE id = ?2", .time(now), .text(id), make: key)
    }

    /// A slot is taken by each client that is neither disabled nor at the end of its usage window. It is counted and never kept as a number:
    /// there is nothing that could drift.
    private static let keyQuery = """
        SELECT id, hash, note, devices, usage_days, valid_from, valid_until, capability, created_at, revoked_at,
        (SELECT count(*) FROM clients WHERE key_id = keys.id AND elapsed_at IS NULL AND disabled_at IS NULL
         AND (usage_until IS NULL OR usage_until > ?1)) FROM keys
        """

    private static func key(_ row: SQLRow) -> RegistrationKey {
        RegistrationKey(
            id: row.text(0), hash: row.octets(1), note: row.optionalText(2), devices: row.optionalInteger(3),
            usageDays: row.optionalInteger(4), validFrom: row.optionalTime(5), validUntil: row.optionalTime(6),
            capability: row.optionalText(7), createdAt: row.time(8), revokedAt: row.optionalTime(9), used: row.integer(10))
    }
}
