internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import ProbeLog

enum ServeCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "serve", about: "Run the server until SIGTERM or SIGINT",
        options: [
            .value("listen", "ADDRESS:PORT", "Where to listen (default: 127.0.0.1:8480); port 0 takes a free one"),
            .value("tls-cert", "FILE", "Certificate chain in PEM form: HTTPS instead of HTTP"),
            .value("tls-key", "FILE", "Its private key in PEM form, without a password"),
            .value(
                "proxy", "ADDRESS", "A proxy that speaks HTTPS to the world: its X-Forwarded-For counts, and cookies are for HTTPS only"),
            .value("connections", "N", "Connections at once (default: 4096)"),
            .value("connections-per-address", "N", "Of one address (default: 1024)"),
            .value("patience", "SECONDS", "How long a slow client may take (default: 30)"),
            .value("token-seconds", "N", "How long a token is good for (default: 900)"),
            .value("registrations-per-minute", "N", "Of one address, and with one key (default: 120)"),
            .value("authentications-per-minute", "N", "Of one address (default: 600)"),
            .value("authentications-per-client", "N", "In a minute, with one UUID (default: 20)"),
            .value("uploads-per-minute", "N", "Of one client (default: 120)"),
            .value("logins-per-minute", "N", "Of one address, to the dashboard (default: 10)"),
            .value("log-level", "LEVEL", "debug, info, warning or error (default: info)"),
        ],
        details: """
            Devices are told http(s)://ADDRESS:PORT/client_api/v1, people open http(s)://ADDRESS:PORT/ (see 'user add').
            A socket handed over by systemd takes precedence over --listen.
            """)

    static func run(_ arguments: ParsedArguments) throws {
        let log = try logger(arguments)
        let signals = try EndSignals()
        var settings = try httpSettings(arguments)
        settings.connections = min(settings.connections, FileLimit.raise() - 64)
        let folder = try DataFolder(arguments.value("data") ?? DataFolder.defaultPath)
        let secrets = try folder.secrets()
        let store = try SQLiteStore(path: folder.database)
        let service = Service(store: store, secrets: secrets, limits: try limits(arguments), log: log)
        let routes = ClientAPI(service: service).routes + Dashboard(service: service, isSecure: settings.isSecure).routes
        let server = HTTPServer(router: Router(routes: routes), settings: settings, log: log)

        let listener = try Listener.inherited() ?? Listener(listeningOn: arguments.value("listen") ?? "127.0.0.1:8480")
        try server.start(listener: listener.descriptor)
        let address = "\(settings.tls == nil ? "http" : "https")://\(listener.address)"
        if !settings.isSecure, !listener.isLoopback {
            log.warning("secrets and tokens can be read on the way: use --tls-cert and --tls-key, or a proxy with TLS on this machine")
        }
        try Output.print(
            arguments.isSet("json") ? JSONValue.object(["listening": .string(address)]).text() : "listening on \(address)")
        let manager = ServiceManager()
        manager.ready("Listening on \(address)")
        watch(server, store, signals, manager, log)
        manager.stopping()
        log.info("ending")
        server.stop(within: .seconds(20))
    }

    /// The loop of the main thread: housekeeping, until a signal comes.
    private static func watch(
        _ server: HTTPServer, _ store: any ServerStore, _ signals: EndSignals, _ manager: ServiceManager, _ log: Logger
    ) {
        var sweptAt: MonotonicInstant?
        repeat {
            manager.ping()
            server.endOverdue()
            if sweptAt.map({ MonotonicInstant.now() - $0 >= .seconds(60) }) ?? true {
                sweptAt = .now()
                do { try store.sweep(now: .now()) } catch { log.error("the sweep failed", ("reason", "\(error)")) }
            }
        } while !signals.wait(.seconds(1))
    }

    private static func logger(_ arguments: ParsedArguments) throws -> Logger {
        let name = arguments.value("log-level") ?? "info"
        guard let level = Logger.Level.allCases.first(where: { $0.name == name }) else {
            throw arguments.fault("'--log-level' needs debug, info, warning or error, and '\(name)' is none of them")
        }
        return .standardError(category: "fieldprobe-server", minimum: level)
    }

    private static func httpSettings(_ arguments: ParsedArguments) throws -> HTTPSettings {
        var settings = HTTPSettings()
        if let number = try arguments.number("connections", 16...1_000_000) { settings.connections = number }
        if let number = try arguments.number("connections-per-address", 1...1_000_000) { settings.connectionsPerAddress = number }
        if let number = try arguments.number("patience", 1...3600) { settings.patience = .seconds(number) }
        if let text = arguments.value("proxy") {
            guard let address = IPAddress(text) else { throw arguments.fault("'--proxy' needs an address such as 127.0.0.1") }
            settings.proxy = address
        }
        switch (arguments.value("tls-cert"), arguments.value("tls-key")) {
        case (let certificate?, let key?):
            guard let certificateText = try DurableFile.read(certificate), let keyText = try DurableFile.read(key) else {
                throw CommandFailure(.usage, "'--tls-cert' and '--tls-key' must be files that can be read")
            }
            settings.tls = TLSFiles(key: keyText, certificate: certificateText)
        case (nil, nil): break
        default: throw arguments.fault("'--tls-cert' and '--tls-key' need each other")
        }
        return settings
    }

    private static func limits(_ arguments: ParsedArguments) throws -> ServiceLimits {
        var limits = ServiceLimits()
        let many = 1...1_000_000_000
        if let number = try arguments.number("token-seconds", 1...86_400) { limits.tokenSeconds = number }
        if let number = try arguments.number("registrations-per-minute", many) { limits.registrationsPerMinute = number }
        if let number = try arguments.number("authentications-per-minute", many) { limits.authenticationsPerMinute = number }
        if let number = try arguments.number("authentications-per-client", many) { limits.authenticationsPerClient = number }
        if let number = try arguments.number("uploads-per-minute", many) { limits.uploadsPerMinute = number }
        if let number = try arguments.number("logins-per-minute", many) { limits.loginsPerMinute = number }
        return limits
    }
}

/// File descriptors: each connection is one.
enum FileLimit {
    /// As many as this process may have.
    static func raise() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
