internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import ProbeLog
internal import QualityTests

/// What `run` and `web` have in common.
enum TestOptions {
    static let options: [OptionSyntax] = [
        .value("type", "TYPE", "Type of the test, for the report and the capability"),
        .value("subject", "SUBJECT", "Subject of the test"),
        .value("target", "HOST", "Host or address that is measured against"),
        .value("purpose", "KEY", "Purpose from the configuration, whose permissions are granted for this run"),
        CollectorSelection.with,
        .value("output", "FILE", "Write the report to FILE, '-' for standard output"),
        .flag("unregistered", "Run without a registration: the report stays here, and is not sent"),
        .flag("no-upload", "Leave the report in the queue: 'queue send' or a later run sends it"), .json,
        .flag("quiet", "Do not show the report"),
    ]

    static func output(_ arguments: ParsedArguments) throws -> ReportFile {
        guard arguments.isSet("json") else { return try ReportFile(arguments.value("output")) }
        if let path = arguments.value("output"), path != "-" {
            throw arguments.fault("'--json' prints the report, and '--output \(path)' writes it: choose one")
        }
        return try ReportFile("-")
    }

    /// The test's own target, else the configured one.
    static func target(_ arguments: ParsedArguments, _ configuration: Configuration) throws -> String? {
        try target(arguments) ?? ConnectionDetailConfiguration(configuration).target
    }

    /// What the command line says, held to what the configuration's key takes.
    static func target(_ arguments: ParsedArguments) throws -> String? {
        guard let text = arguments.value("target") else { return nil }
        if let percent = text.firstIndex(of: "%"), IPAddress(String(text[..<percent]))?.family == .ipv6 {
            let zone = text[text.index(after: percent)...]
            throw arguments.fault("'--target \(text)' names the interface '\(zone)', which is not supported yet: give a global address")
        }
        let host = ConfigurationValue.host
        guard host.admits(text) else { throw arguments.fault("'--target' needs \(host.form), and '\(text)' is none") }
        return text
    }

    /// The log of this program: warnings and errors, on standard error.
    static var logger: Logger { .standardError(category: "fieldprobe", minimum: .warning) }

    static func settings(lookup: TargetLookup = .resolver, activity: any TestActivity) -> QualityTest.Settings {
        var settings = QualityTest.Settings()
        settings.activity = activity
        settings.lookup = lookup
        settings.collectors.logger = logger
        return settings
    }

    /// Writes the report, and shows it to people where nobody else gets it.
    static func deliver(_ report: Report, to file: ReportFile, showOn descriptor: Int32, _ arguments: ParsedArguments) throws {
        try file.write(report)
        guard !arguments.isSet("quiet"), !file.isStandardOutput else { return }
        let text = ReportView(report.json, style: Style(descriptor: descriptor)).text
        // To the end of a pipe that nobody reads: the report is safe, or was not wanted.
        _ = Output.write(Array(text.utf8), to: descriptor)
    }
}
