internal import CollectorCore
internal import MeasurementModel

/// Which collectors there are.
struct CollectorsListCommand: Subcommand {
    static let syntax = CommandSyntax(name: "collectors list", about: "List the collectors", options: [.json])

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let answers = await CollectorAnswer.all(CollectorSelection.all(configuration))
        if arguments.isSet("json") {
            try Output.printJSON(.array(answers.map(\.json)))
            return .own(.success)
        }
        var table = TextTable(["NAME", "VERSION", "TRACE", "ENABLED", "SOURCE", "ABOUT"])
        for answer in answers {
            let descriptor = answer.descriptor
            table.add([
                answer.entry.name, TerminalText.escaped(descriptor?.version ?? ""), descriptor?.trace ?? "",
                answer.entry.isEnabled ? (answer.problem == nil ? "yes" : "fails") : "no", TerminalText.escaped(answer.entry.source),
                TerminalText.escaped(answer.problem ?? descriptor?.about ?? "", limit: 300),
            ])
        }
        try Output.print(table.lines(style: Style(descriptor: 1), indent: "").joined(separator: "\n") + "\n")
        return .own(.success)
    }
}

/// What one collector declares.
struct CollectorsDescribeCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "collectors describe", operands: "NAME", operandCount: 1...1, about: "Show what a collector records, field by field",
        options: [.json])

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let entry = try CollectorSelection.find(arguments.operands[0], in: CollectorSelection.all(configuration))
        let collector: CollectorDescriptor
        do { collector = try await entry.describe(refusesUnknownKeys: false) } catch {
            throw CommandFailure(.failure, "collector \(entry.name) cannot say what it records: \(error)")
        }
        let manifest = PrivacyManifest(
            collectors: [collector], permissions: configuration.permissions, destination: configuration.apiEndpoint)
        if arguments.isSet("json") {
            var object = manifest.json["collectors"]?[0]?.object ?? [:]
            object["configuration"] = collector.configuration.map { keys in
                .array(keys.map { .object(["name": .string($0.name), "about": .string($0.about)]) })
            }
            try Output.printJSON(.object(object))
            return .own(.success)
        }
        var lines = [
            "\(collector.name) \(TerminalText.escaped(collector.version)): \(TerminalText.escaped(collector.about))",
            "Trace: \(collector.trace)",
        ]
        if !collector.requires.isEmpty { lines.append("Needs: " + collector.requires.map(\.rawValue).joined(separator: ", ")) }
        lines.append("")
        lines += FieldTable.lines(collector.fields, permissions: configuration.permissions)
        if let keys = collector.configuration, !keys.isEmpty {
            var table = TextTable(["KEY", "ABOUT"])
            for key in keys { table.add([key.name, TerminalText.escaped(key.about)]) }
            lines += ["", "Keys of [configuration] in its file"] + table.lines(style: Style(descriptor: 1))
        }
        try Output.print(lines.joined(separator: "\n") + "\n")
        return .own(.success)
    }
}

/// Declared fields as a table.
enum FieldTable {
    static func lines(_ fields: [FieldDeclaration], permissions: Permissions) -> [String] {
        var table = TextTable(["FIELD", "TYPE", "UNIT", "CLASS", "PERMISSION", "CHANGES", "ABOUT", "PURPOSE"])
        func add(_ field: FieldDeclaration, _ prefix: String) {
            let permission = field.permission.map { "\($0.rawValue) (\(permissions.allows($0) ? "on" : "off"))" } ?? ""
            table.add([
                prefix + field.name, field.type.rawValue, TerminalText.escaped(field.unit?.symbol ?? ""), field.privacy.rawValue,
                permission, TerminalText.escaped(field.changes.text(unit: field.unit)), TerminalText.escaped(field.about),
                TerminalText.escaped(field.purpose),
            ])
            for member in field.members { add(member, prefix + field.name + ".") }
        }
        for field in fields { add(field, "") }
        return table.lines(style: Style(descriptor: 1))
    }
}

/// Everything that is collected, for which purpose, and where it goes (R-27).
struct PrivacyCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "privacy", about: "Show everything that is collected, what for, and where it is sent", options: [.json])

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let answers = await CollectorAnswer.all(CollectorSelection.all(configuration))
        let descriptors = answers.compactMap(\.descriptor)
        let manifest = PrivacyManifest(
            collectors: descriptors, permissions: configuration.permissions, destination: configuration.apiEndpoint,
            purposes: try configuration.configuredPurposes)
        if arguments.isSet("json") {
            try Output.printJSON(manifest.json)
            return .own(.success)
        }
        var lines = ["Reports are sent to: \(configuration.apiEndpoint ?? "nobody, no server is configured")"]
        lines.append("Linked to the registered client. Never used for tracking.")
        for permission in Permission.allCases {
            let state = configuration.permissions.allows(permission) ? "on" : "off"
            lines.append("Permission \(permission.rawValue): \(state)")
        }
        lines += ["", "Every report"] + FieldTable.lines(PrivacyManifest.reportFields, permissions: configuration.permissions)
        lines += ["", "Registration and authentication"]
        lines += FieldTable.lines(PrivacyManifest.registrationFields, permissions: configuration.permissions)
        for descriptor in descriptors {
            lines += ["", "\(descriptor.name) (\(descriptor.trace))"]
            lines += FieldTable.lines(descriptor.fields, permissions: configuration.permissions)
        }
        // What cannot say what it records records nothing: a test refuses it as well.
        for answer in answers {
            guard let problem = answer.problem else { continue }
            lines += ["", "\(answer.entry.name): records nothing, " + TerminalText.escaped(problem, limit: 300)]
        }
        lines += ["", "Configured purposes"]
        for granted in manifest.purposes {
            guard let purpose = granted.purpose else { continue }
            let names = granted.granted.sorted().map(\.rawValue)
            let allows = names.isEmpty ? "nothing that needs a permission" : names.joined(separator: ", ")
            lines.append("  \(purpose.key): \(TerminalText.escaped(purpose.text)) A run for it may see: \(allows)")
        }
        if manifest.purposes.isEmpty { lines.append("  none") }
        try Output.print(lines.joined(separator: "\n") + "\n")
        return .own(.success)
    }
}
