internal import DeviceRegistration
internal import MeasurementModel
internal import MeasurementSync

/// Where this device stands with its server.
struct StatusCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "status", about: "Show whether this device is registered and may run tests", options: [.json],
        details: """
            Ends with 0 when tests may run, else with the status that a test would be refused
            with. Nothing is sent: 'authenticate' asks the server.
            """)

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let status: RegistrationStatus
        do {
            status = try Registration.registry(configuration).status()
        } catch let error as RegistryError where arguments.isSet("json") {
            try Output.printJSON(StatusView.json(unreadable: error))
            return .own(ExitStatus(error))
        }
        if arguments.isSet("json") {
            var answer = StatusView.json(status).object ?? [:]
            answer["queue"] = try? UploaderFactory.queue(configuration).statistics.json
            try Output.printJSON(.object(answer))
        } else {
            try Output.print(StatusView.text(status, style: Style(descriptor: 1)))
        }
        return .own(status.obstacle.map(ExitStatus.init) ?? .success)
    }
}

/// What this device may measure.
struct CapabilityCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "capability", about: "Show which tests the registration key lets this device run", options: [.json],
        details: "With '--json': null where nothing is restricted.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let confirmation = try Registration.registry(try Configuration(arguments)).confirmation()
        if arguments.isSet("json") {
            try Output.printJSON(confirmation.capability?.json ?? .null)
        } else {
            try Output.print(StatusView.lines(confirmation.capability).joined(separator: "\n") + "\n")
        }
        return .own(.success)
    }
}

enum StatusView {
    static func text(_ status: RegistrationStatus, style: Style) -> String {
        let confirmed = status.state == .confirmed
        let word = status.state.word.replacing("_", with: " ")
        var rows = [("Registration", confirmed ? style.green(word) : style.red(word))]
        if let endpoint = status.apiEndpoint { rows.append(("Server", TerminalText.escaped(endpoint))) }
        if let uuid = status.clientUUID { rows.append(("Client", TerminalText.escaped(uuid))) }
        if let label = status.label { rows.append(("Label", TerminalText.escaped(label))) }
        if !status.tags.isEmpty { rows.append(("Tags", TerminalText.escaped(status.tags.joined(separator: ", ")))) }
        if let confirmation = status.confirmation {
            rows.append(("Tests may run", "for \(text(confirmation.left)), then the server has to confirm again"))
            if let offset = confirmation.clockOffset, let uncertainty = confirmation.clockUncertainty {
                let amount = Numbers.seconds(abs(offset.milliseconds))
                let side = offset < .zero ? "behind" : "ahead of"
                rows.append(("Server's clock", "\(amount) s \(side) this one, give or take \(Numbers.seconds(uncertainty.milliseconds)) s"))
            }
            for (index, line) in lines(confirmation.capability).enumerated() { rows.append((index == 0 ? "Capability" : "", line)) }
        }
        var lines = Help.columns(rows.map { ($0.0, $0.1) }).map { String($0.dropFirst(2)) }
        if let obstacle = status.obstacle { lines += ["", TerminalText.escaped(obstacle.description)] }
        return lines.joined(separator: "\n") + "\n"
    }

    static func lines(_ capability: Capability?) -> [String] {
        guard let capability else { return ["every test may run"] }
        func words(_ set: Set<String>) -> String { TerminalText.escaped(set.sorted().joined(separator: ", ")) }
        var lines: [String] = []
        if !capability.allowedTypes.isEmpty { lines.append("types: \(words(capability.allowedTypes)) only") }
        if !capability.allowedSubjects.isEmpty { lines.append("subjects: \(words(capability.allowedSubjects)) only") }
        if !capability.forbiddenTypes.isEmpty { lines.append("types: not \(words(capability.forbiddenTypes))") }
        if !capability.forbiddenSubjects.isEmpty { lines.append("subjects: not \(words(capability.forbiddenSubjects))") }
        return lines.isEmpty ? ["every test may run"] : lines
    }

    /// The two greatest units of it, rounded down.
    static func text(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        if seconds >= 86_400 { return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h" }
        if seconds >= 3600 { return "\(seconds / 3600) h \(seconds % 3600 / 60) min" }
        return seconds >= 60 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds) s"
    }

    static func json(unreadable error: RegistryError) -> JSONValue {
        .object([
            "schema": .string("fieldprobe/status/1"), "state": .string("unreadable"), "obstacle": .string(error.code.description),
            "advice": .string(error.message),
        ])
    }

    static func json(_ status: RegistrationStatus) -> JSONValue {
        var object: JSONObject = ["schema": .string("fieldprobe/status/1"), "state": .string(status.state.word)]
        object["api_endpoint"] = status.apiEndpoint.map(JSONValue.string)
        object["client_uuid"] = status.clientUUID.map(JSONValue.string)
        object["client_label"] = status.label.map(JSONValue.string)
        object["client_tags"] = status.tags.isEmpty ? nil : .strings(status.tags)
        if let confirmation = status.confirmation {
            object["left_ms"] = .integer(confirmation.left.milliseconds)
            object["clock_offset_ms"] = confirmation.clockOffset.map { .integer($0.milliseconds) }
            object["clock_uncertainty_ms"] = confirmation.clockUncertainty.map { .integer($0.milliseconds) }
            object["capability"] = confirmation.capability?.json
        }
        if case .dropped(let reason) = status.state {
            object["dropped_reason"] = .string(reason.code)
            if case .clientDisabled(let why?) = reason { object["dropped_detail"] = .string(why) }
            object["may_register_again"] = .bool(reason.allowsRegisteringAgain)
        }
        if let obstacle = status.obstacle {
            object["obstacle"] = .string(obstacle.code.description)
            object["advice"] = .string(obstacle.message)
        }
        return .object(object)
    }
}
