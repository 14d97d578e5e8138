internal import CollectorCore
internal import MeasurementModel

/// Which collectors there are.
struct CollectorsListCommand: Subcommand {
    static let syntax = CommandSyntax(name: "collectors list", about: "List the collectors", options: [.json])

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        let configuration = try Configuration(arguments)
        let enabled = Set(BuiltInCollectors.enabled(configuration).map(\.descriptor.name))
        let descriptors = BuiltInCollectors.all(configuration).map(\.descriptor)
        if arguments.isSet("json") {
            try Output.printJSON(
                .array(
                    descriptors.map { descriptor in
                        .object([
                            "name": .string(descriptor.name), "version": .string(descriptor.version), "trace": .string(descriptor.trace),
                            "enabled": .bool(enabled.contains(descriptor.name)), "about": .string(descriptor.about),
                        ])
                    }))
            return .own(.success)
        }
        var table = TextTable(["NAME", "VERSION", "TRACE", "ENABLED", "ABOUT"])
        for descriptor in descriptors {
            table.add([
                descriptor.name, descriptor.version, descriptor.trace, enabled.contains(descriptor.name) ? "yes" : "no", descriptor.about,
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
        let collector = try BuiltInCollectors.find(arguments.operands[0], in: BuiltInCollectors.all(configuration)).descriptor
        let manifest = PrivacyManifest(
            collectors: [collector], permissions: configuration.permissions, destination: configuration.apiEndpoint)
        if arguments.isSet("json") {
            try Output.printJSON(manifest.json["collectors"]?[0] ?? .null)
            return .own(.success)
        }
        var lines = ["\(collector.name) \(collector.version): \(collector.about)", "Trace: \(collector.trace)"]
        if !collector.requires.isEmpty { lines.append("Needs: " + collector.requires.map(\.rawValue).joined(separator: ", ")) }
        lines.append("")
        lines += FieldTable.lines(collector.fields, permissions: configuration.permissions)
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
                prefix + field.name, field.type.rawValue, field.unit?.symbol ?? "", field.privacy.rawValue, permission,
                field.changes.text(unit: field.unit), field.about, field.purpose,
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
        let descriptors = BuiltInCollectors.all(configuration).map(\.descriptor)
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
