internal import MeasurementModel

enum ClientListCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "client list", about: "Show registered clients, the newest first",
        options: [
            .value("key", "KEY", "Only of this key, by its public part"),
            .value("state", "STATE", "Only active, disabled or elapsed ones"),
            .value("match", "TEXT", "Only those whose label contains it, or whose UUID begins with it"),
            .value("limit", "N", "At most so many (default: 1000)"),
        ])

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        var query = ClientQuery(keyID: arguments.value("key"), text: arguments.value("match"))
        query.limit = try arguments.number("limit", 1...10_000_000) ?? query.limit
        if let name = arguments.value("state") {
            guard let state = Client.State(rawValue: name) else { throw arguments.fault("'--state' needs active, disabled or elapsed") }
            query.state = state
        }
        let clients = try administration.store.clients(query, now: administration.now)
        var table = TextTable("UUID", "STATE", "LABEL", "TAGS", "KEY", "REGISTERED", "USAGE UNTIL", "LAST SEEN")
        for client in clients {
            table.add(
                client.uuid, client.state.rawValue, client.label ?? "", client.tags.joined(separator: " "), client.keyID,
                client.registeredAt.short, client.usageUntil?.short ?? "", client.lastSeenAt?.short ?? "never")
        }
        try administration.print(.array(clients.map { .object($0.json) }), table.text)
    }
}

enum ClientShowCommand: Subcommand {
    static let syntax = CommandSyntax(name: "client show", operand: "UUID", about: "Show one client")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        let json = try administration.client(arguments.operand).json
        let lines = json.members.map { name, value in
            "\(name): " + PlainText.escaped(value.string ?? value.array?.compactMap(\.string).joined(separator: ", ") ?? value.text())
        }
        try administration.print(.object(json), lines.joined(separator: "\n"))
    }
}

enum ClientDisableCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "client disable", operand: "UUID", about: "Stop a client, and free its slot",
        options: [.value("reason", "TEXT", "Told to the device, and to whoever looks at it")],
        details: "The device learns of it when it next reaches the server, and discards its credentials and its queue.")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        let client = try administration.client(arguments.operand)
        let change = try administration.store.disable(client.uuid, reason: arguments.value("reason"), now: administration.now)
        try administration.report(change, client, "disabled")
    }
}

enum ClientEnableCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "client enable", operand: "UUID", about: "Let a disabled client go on, if its key has a free slot")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        let client = try administration.client(arguments.operand)
        try administration.report(try administration.store.enable(client.uuid, now: administration.now), client, "enabled")
    }
}

extension Administration {
    fileprivate func report(_ change: ClientChange, _ client: Client, _ what: String) throws {
        switch change {
        case .done, .unchanged:
            try print(
                .object(["client_uuid": .string(client.uuid), "state": .string(what), "changed": .bool(change == .done)]),
                change == .done ? "\(client.uuid) is \(what)" : "\(client.uuid) was \(what) before")
        case .unknown: throw CommandFailure(.notFound, "the client has gone meanwhile")
        case .elapsed:
            throw CommandFailure(.refused, "the client's usage window is over and its slot is free: the device has to register again")
        case .exhausted:
            throw CommandFailure(.refused, "the key fp-\(client.keyID)-… has no free slot: disable or unregister another client first")
        }
    }
}

extension Client {
    var json: JSONObject {
        JSONObject(present: [
            ("client_uuid", .string(uuid)), ("state", .string(state.rawValue)), ("label", .optional(label)), ("tags", .strings(tags)),
            ("key", .string(keyID)), ("registered_at", .optional(registeredAt)), ("usage_until", .optional(usageUntil)),
            ("elapsed_at", .optional(elapsedAt)), ("disabled_at", .optional(disabledAt)), ("disabled_reason", .optional(disabledReason)),
            ("last_seen_at", .optional(lastSeenAt)),
        ])
    }
}
