internal import MeasurementModel

enum KeyCreateCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "key create", about: "Make a registration key, and print it",
        options: [
            .value("devices", "N", "How many devices may hold it at once (default: any number)"),
            .value("usage-days", "N", "How many days each device may use it (default: for ever)"),
            .value("valid-from", "TIME", "Accepts registrations from this moment on"),
            .value("valid-until", "TIME", "Accepts registrations before this moment"),
            .value("capability", "NAME", "What its devices may measure: see 'capability create'"),
            .value("note", "TEXT", "For yourself: what it is for"),
        ],
        details: "The key is shown this once: only a hash of it is kept. TIME is UTC, such as 2026-11-30 or 2026-11-30T12:00:00Z.")

    static func run(_ arguments: ParsedArguments) throws {
        let devices = try arguments.number("devices", 1...10_000_000)
        let days = try arguments.number("usage-days", 1...36_500)
        let from = try arguments.time("valid-from")
        let until = try arguments.time("valid-until")
        if let from, let until, until <= from { throw arguments.fault("'--valid-until' must be after '--valid-from'") }
        let administration = try Administration(arguments)
        if let name = arguments.value("capability"), try administration.store.capability(name) == nil {
            throw CommandFailure(.notFound, "there is no capability '\(name)': make it with 'fieldprobe-server capability create'")
        }
        let (id, text) = KeyText.make()
        let key = RegistrationKey(
            id: id, hash: Hash.sha256(text), note: arguments.value("note"), devices: devices, usageDays: days, validFrom: from,
            validUntil: until, capability: arguments.value("capability"), createdAt: administration.now)
        try administration.store.create(key)
        var json = key.json(now: administration.now)
        json["key"] = .string(text)
        try administration.print(.object(json), text)
    }
}

enum KeyListCommand: Subcommand {
    static let syntax = CommandSyntax(name: "key list", about: "Show all registration keys and their slots")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        let keys = try administration.store.keys(now: administration.now)
        var table = TextTable("KEY", "STATE", "SLOTS", "USAGE DAYS", "VALID FROM", "VALID UNTIL", "CAPABILITY", "NOTE")
        for key in keys {
            table.add(
                "fp-\(key.id)-…", key.state(now: administration.now), key.slots, key.usageDays.map { String($0) } ?? "unlimited",
                key.validFrom?.short ?? "", key.validUntil?.short ?? "", key.capability ?? "", key.note ?? "")
        }
        try administration.print(.array(keys.map { .object($0.json(now: administration.now)) }), table.text)
    }
}

enum KeyRevokeCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "key revoke", operand: "KEY", about: "Let a key accept no more registrations",
        details: "KEY is the whole key, or its public part as 'key list' shows it. Devices that are registered go on: see 'client disable'."
    )

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        let parts = arguments.operand.split(separator: "-")
        let id = String(parts.count > 1 && parts[0] == "fp" ? parts[1] : parts.first ?? "")
        guard let key = try administration.store.key(id, now: administration.now) else {
            throw CommandFailure(.notFound, "there is no such key: see 'fieldprobe-server key list'")
        }
        let isDone = try administration.store.revokeKey(key.id, now: administration.now)
        try administration.print(
            .object(["id": .string(id), "revoked": .bool(true), "changed": .bool(isDone)]),
            isDone
                ? "fp-\(id)-… accepts no more registrations; \(key.used) of its devices stay registered" : "fp-\(id)-… was revoked before")
    }
}

extension RegistrationKey {
    var slots: String { "\(used) of " + (devices.map { String($0) } ?? "any") }

    func state(now: Timestamp) -> String {
        if revokedAt != nil { return "revoked" }
        if let validFrom, now < validFrom { return "not yet valid" }
        if let validUntil, now >= validUntil { return "expired" }
        if let devices, used >= devices { return "exhausted" }
        return "open"
    }

    func json(now: Timestamp) -> JSONObject {
        JSONObject(present: [
            ("id", .string(id)), ("state", .string(state(now: now))), ("devices", .optional(devices)), ("used", .integer(used)),
            ("usage_days", .optional(usageDays)), ("valid_from", .optional(validFrom)), ("valid_until", .optional(validUntil)),
            ("capability", .optional(capability)), ("note", .optional(note)), ("created_at", .optional(createdAt)),
            ("revoked_at", .optional(revokedAt)),
        ])
    }
}
