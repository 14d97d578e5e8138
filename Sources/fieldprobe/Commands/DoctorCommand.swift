internal import CollectorCore
internal import MeasurementModel
internal import QualityTests

/// What works here, and what to do where it does not.
struct DoctorCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "doctor", about: "Show what works here, what does not, and what to do about it", options: [.json],
        details: "Ends with 0 whatever it finds: much of it is a matter of choice.", listsConfiguration: true)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        async let collectors = CollectorChecks.findings(configuration)
        let findings = try await OwnThread.value("doctor") { Result { try DoctorCheck.findings(configuration) } } + collectors
        if arguments.isSet("json") {
            try Output.printJSON(.object(["schema": .string("fieldprobe/doctor/1"), "checks": .array(findings.map(json))]))
            return .own(.success)
        }
        let style = Style(descriptor: 1)
        var text = ""
        for (_, finding) in findings {
            let what = TerminalText.escaped(finding.what)
            text +=
                finding.isOK
                ? "\(style.green("ok"))  \(what)\n" : "\(style.red("no"))  \(what)\n      \(TerminalText.escaped(finding.advice))\n"
        }
        try Output.print(text)
        return .own(.success)
    }

    private static func json(_ name: String, _ finding: DoctorCheck.Finding) -> JSONValue {
        var object: JSONObject = ["name": .string(name), "ok": .bool(finding.isOK), "what": .string(finding.what)]
        if !finding.advice.isEmpty { object["advice"] = .string(finding.advice) }
        return .object(object)
    }
}
