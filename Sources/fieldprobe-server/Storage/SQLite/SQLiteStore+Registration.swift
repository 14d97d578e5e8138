internal import MeasurementModel

extension SQLiteStore {
    func check(_ registration: Registration, now: Timestamp) throws -> RegistrationOutcome {
        try read { try Self.outlook(registration, $0, now).outcome }
    }

    func register(_ registration: Registration, secret: String, now: Timestamp) throws -> RegistrationOutcome {
        try write { database in
            try Self.endUsageWindows(database, now)
            // Everything is asked again: since the check, others may have taken the last slot, the label, or this very registration.
            let (outcome, key) = try Self.outlook(registration, database, now)
            guard outcome == .open, let key else { return outcome }
            let uuid = RandomOctets.uuid()
            let usageUntil = key.usageDays.map { now.adding(milliseconds: Int64($0) * 86_400_000) }
            try database.run(
                """
                INSERT INTO clients (uuid, key_id, label, tags, machine, secret, registered_at, usage_until)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, .text(uuid), .text(key.id), .optional(registration.label), .text(JSONValue.strings(registration.tags).text()),
                .text(registration.machine), .text(secret), .time(now), .time(usageUntil))
            try database.run(
                "INSERT INTO registrations VALUES (?, ?, ?, ?)", .text(key.id), .octets(registration.nonce), .text(uuid), .time(now))
            return .registered(uuid: uuid)
        }
    }

    private static func outlook(
        _ registration: Registration, _ database: Database, _ now: Timestamp
    ) throws -> (outcome: RegistrationOutcome, key: RegistrationKey?) {
        guard let key = try key(registration.keyID, database, now), Hash.areEqual(key.hash, registration.keyHash) else {
            return (.refused(.keyUnknown), nil)
        }
        // Before everything that the first try may itself have changed: its slot may have been the last.
        let earlier = try database.row(
            """
            SELECT uuid, machine FROM registrations JOIN clients ON uuid = client_uuid
            WHERE registrations.key_id = ? AND nonce = ? AND (created_at > ? OR last_seen_at IS NULL)
            """, .text(key.id), .octets(registration.nonce), .time(now.adding(milliseconds: -3_600_000))
        ) { (uuid: $0.text(0), machine: $0.text(1)) }
        if let earlier {
            return (earlier.machine == registration.machine ? .repeated(uuid: earlier.uuid) : .refused(.nonceOfAnotherMachine), key)
        }
        if let refusal = try refusal(registration, key, database, now) { return (.refused(refusal), key) }
        return (.open, key)
    }

    private static func refusal(
        _ registration: Registration, _ key: RegistrationKey, _ database: Database, _ now: Timestamp
    ) throws -> RegistrationOutcome.Refusal? {
        if key.revokedAt != nil { return .keyRevoked }
        if let from = key.validFrom, now < from { return .keyNotYetValid }
        if let until = key.validUntil, now >= until { return .keyExpired }
        // The nonce was used so long ago that the request is no repetition.
        let isSpent = try database.row(
            "SELECT 1 FROM registrations WHERE key_id = ? AND nonce = ?", .text(key.id), .octets(registration.nonce)
        ) { $0.integer(0) }
        if isSpent != nil { return .nonceOfAnotherMachine }
        if let devices = key.devices, key.used >= devices { return .keyExhausted }
        if let label = registration.label {
            let holder = try database.row(
                """
                SELECT 1 FROM clients WHERE label = ?1 AND elapsed_at IS NULL AND (usage_until IS NULL OR usage_until > ?2)
                """, .text(label), .time(now)
            ) { $0.integer(0) }
            if holder != nil { return .labelTaken }
        }
        return nil
    }
}
