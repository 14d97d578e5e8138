internal import CollectorCore
internal import HTTPTransport
internal import MeasurementModel
internal import QualityTests

/// The built-in WEB test.
struct WebCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "web", operands: "URL...", operandCount: 1...Int.max, about: "Fetch web addresses as a test, with the collectors beside it",
        options: TestOptions.options + [
            .flag("ipv4", "Use IPv4 only"), .flag("ipv6", "Use IPv6 only"),
            .value("timeout", "DURATION", "Give up on an address after so long (default: 60s)"),
            .value("max-redirects", "N", "Follow at most N redirects (default: 10)"),
            .value("ca-file", "FILE", "Trust the certificates in FILE instead of the system's"),
        ],
        details: """
            Each address is measured as if it were the only one: name lookup, connect, TLS,
            first byte and transfer, and every redirect by itself. An address without a scheme
            is taken as https. The type is WEB and the subject website, unless others are
            given. Ends with 1 when an address was not fetched; a status such as 404 is an
            answer.
            """)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let permissions = try configuration.permissions(purpose: arguments.value("purpose"))
        let web = WebMeasurement(arguments.operands, settings: try settings(arguments))
        let target = try TestOptions.target(arguments) ?? web.target
        let output = try TestOptions.output(arguments)
        do {
            let gate = try await TestGateChoice.gate(arguments, configuration)
            let sync = try ReportSync(arguments, configuration)
            let test = try QualityTest(
                type: arguments.value("type") ?? "WEB", subject: arguments.value("subject") ?? "website", gate: gate, target: target,
                collectors: CollectorSelection.running(configuration, arguments), permissions: permissions,
                settings: TestOptions.settings(lookup: web.lookup(of: target), activity: sync.activity))
            let (report, signal) = try await Interruption.watch {
                try await test.run { session in try await session.withinGrant { try await web.run(in: session) } }
            }
            try TestOptions.deliver(report, to: output, showOn: 1, arguments)
            if signal == nil { await sync.send() }
            if let signal { return .command(.signaled(signal)) }
            return .own(isComplete(report) ? .success : .notEverything)
        } catch {
            output.abandon()
            throw error
        }
    }

    /// Every address was fetched.
    private static func isComplete(_ report: Report) -> Bool {
        let pages = report.result?["pages"]?.array ?? []
        return report.finishedReason == .completed && pages.allSatisfy { $0["error"] == nil }
    }

    private static func settings(_ arguments: ParsedArguments) throws -> WebMeasurement.Settings {
        var settings = WebMeasurement.Settings()
        if arguments.isSet("ipv4"), arguments.isSet("ipv6") { throw arguments.fault("'--ipv4' and '--ipv6' exclude each other") }
        if arguments.isSet("ipv4") { settings.addressFamily = .ipv4 }
        if arguments.isSet("ipv6") { settings.addressFamily = .ipv6 }
        let timeout =
            try arguments.value("timeout", "a duration of at most 10 years such as 10s", ConfigurationValue.duration) ?? .seconds(60)
        settings.timeouts = HTTPTimeouts(total: timeout)
        if let limit = try arguments.value(
            "max-redirects", "a whole number from 0 to 50", { Int($0).flatMap { (0...50).contains($0) ? $0 : nil } })
        {
            settings.maximumRedirects = limit
        }
        settings.caFile = arguments.value("ca-file")
        return settings
    }
}
