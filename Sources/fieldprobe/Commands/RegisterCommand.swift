internal import DeviceRegistration
internal import Glibc

/// Makes this device a client of the server.
struct RegisterCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "register", about: "Register this device at the server, and have it confirmed",
        options: [
            .value("key", "KEY", "Registration key; '-' reads it from standard input, where no list of processes shows it"),
            .value("label", "LABEL", "Name that no other client of the server has"),
            .value("tag", "TAG", repeatable: true, "Word to find this client by"),
            .flag("force", "Register although an administrator disabled this device: it takes another slot"),
            .flag("adopt", "Keep the credentials that are here, for this machine and this server's address"),
        ],
        details: """
            A call that got no answer can be repeated with the same key: it takes no second
            slot. '--adopt' takes none either: it is for a machine that replaces another one,
            with the other one's state folder, and for a server that has moved.
            """)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let registry = try Registration.registry(try Configuration(arguments), needsServer: true)
        if arguments.isSet("adopt") {
            try await registry.authenticate(adopt: true)
        } else {
            guard let key = arguments.value("key") else { throw arguments.fault("'--key' is missing") }
            try await registry.registerClient(
                registrationKey: key == "-" ? try keyFromStandardInput() : key, label: arguments.value("label"), tags: arguments.all("tag"),
                force: arguments.isSet("force"))
        }
        try Output.print("registered at \(registry.apiEndpoint) as \(registry.getClientUuid() ?? "")\n")
        await registry.close()
        return .own(.success)
    }

    /// The first line, or all there is.
    private static func keyFromStandardInput() throws -> String {
        var octets: [UInt8] = []
        var octet: UInt8 = 0
        while octets.count < 4096, read(0, &octet, 1) == 1, octet != 0x0A { octets.append(octet) }
        let key = (String(validating: octets, as: UTF8.self) ?? "").trimmed
        guard !key.isEmpty else { throw CommandFailure(.usage, "standard input has no registration key in its first line") }
        return key
    }
}

/// Has the registration confirmed again.
struct AuthenticateCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "authenticate", about: "Have the server confirm this device again",
        options: [.flag("adopt", "This machine replaces the one that was registered, or the server has moved to the configured address")])

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let registry = try Registration.registry(try Configuration(arguments), needsServer: true)
        try await registry.authenticate(adopt: arguments.isSet("adopt"))
        let left = try registry.status().confirmation?.left ?? .zero
        try Output.print("confirmed: tests may run for \(StatusView.text(left))\n")
        await registry.close()
        return .own(.success)
    }
}

/// Ends the registration on both sides.
struct UnregisterCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "unregister", about: "Remove this device from the server, which frees its slot, and discard its credentials")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let registry = try Registration.registry(try Configuration(arguments), needsServer: true)
        try await registry.unregisterClient()
        try Output.print("unregistered: the slot is free again\n")
        await registry.close()
        return .own(.success)
    }
}

/// Ends the registration on this side only.
struct ForgetCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "forget", about: "Discard this device's credentials without telling the server: its slot stays taken",
        details: "It also clears registration files that cannot be read. 'unregister' frees the slot.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let registry = try Registration.registry(try Configuration(arguments))
        let uuid = registry.getClientUuid()
        try registry.clearRegistrationInfo()
        if case .dropped(let reason) = try registry.state {
            try Output.print("nothing to forget: \(TerminalText.escaped(reason.message))\n")
        } else {
            try Output.print(
                uuid.map { "forgotten: the server still counts this device, as \(TerminalText.escaped($0))\n" } ?? "forgotten\n")
        }
        return .own(.success)
    }
}
