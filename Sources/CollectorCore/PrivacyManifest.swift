public import MeasurementModel

/// What the collectors of one installation can collect, by class, for which purpose, and where it goes. It is made from the same
/// declarations that the recorder enforces.
public struct PrivacyManifest: Sendable {
    public let collectors: [CollectorDescriptor]
    public let permissions: Permissions
    /// Where reports are sent; nil when no server is configured.
    public let destination: String?
    /// What a run may see for each configured purpose.
    public let purposes: [Permissions]

    public init(collectors: [CollectorDescriptor], permissions: Permissions, destination: String?, purposes: [Permissions] = []) {
        self.collectors = collectors
        self.permissions = permissions
        self.destination = destination
        self.purposes = purposes
    }

    /// What every report has besides the traces: every one of ``Report/reservedKeys``.
    public static let reportFields: [FieldDeclaration] = [
        .text("schema", privacy: .otherDiagnosticData, about: "Form of the report"),
        .text("id", privacy: .otherDiagnosticData, about: "Random number of the measurement, so that no report counts twice"),
        .text("type", privacy: .performanceData, about: "Type of the test"),
        .text("subject", privacy: .performanceData, about: "Subject of the test: the command's name, unless another one is given"),
        .text("client_uuid", privacy: .deviceIdentifier, about: "Identity of the registered client"),
        .text("client_label", privacy: .deviceIdentifier, about: "Label that the client was registered with"),
        .text("client_tags", privacy: .deviceIdentifier, about: "Tags that the client was registered with"),
        .text("client_version", privacy: .otherDiagnosticData, about: "Version of this software"),
        .text("device", privacy: .otherDiagnosticData, about: "Model, kernel, architecture and operating system, without identifiers"),
        .text("started_at", privacy: .performanceData, about: "When the test began, by the device's clock"),
        .text("started_at_skewed", privacy: .performanceData, about: "When the test began, by the server's clock"),
        .text("finished_at", privacy: .performanceData, about: "When the test ended, by the device's clock"),
        .text("finished_at_skewed", privacy: .performanceData, about: "When the test ended, by the server's clock"),
        .integer("duration_ms", unit: .milliseconds, privacy: .performanceData, about: "How long the test took"),
        .text("finished_reason", privacy: .performanceData, about: "Whether the test was completed, failed or was aborted"),
        .text("target", privacy: .connectionContext, about: "What was measured against, and its addresses"),
        .text("result", privacy: .performanceData, about: "What the measurement found: also what a measured command printed"),
        .text("collectors", privacy: .otherDiagnosticData, about: "What each collector could and could not see"),
        .text("permissions", privacy: .otherDiagnosticData, about: "What the run was allowed to see, and for which purpose"),
        .text("time", privacy: .otherDiagnosticData, about: "State of the device's clock"),
    ]

    /// What the server is told when the device registers and authenticates.
    public static let registrationFields: [FieldDeclaration] = [
        FieldDeclaration(
            "machine", .text, privacy: .deviceIdentifier,
            about: "Hash of the machine's identity, with a salt of its own for each registration",
            purpose: "Lets the server notice two machines under one identity"),
        FieldDeclaration(
            "label", .text, privacy: .deviceIdentifier, about: "Label that the administrator of the device chose",
            purpose: "Lets people find the client"),
        FieldDeclaration(
            "tags", .text, privacy: .deviceIdentifier, about: "Tags that the administrator of the device chose",
            purpose: "Lets people find the client"),
    ]

    public var json: JSONValue {
        .object([
            "schema": .string("fieldprobe/privacy/1"),
            "linked_to_client": .bool(true),
            "used_for_tracking": .bool(false),
            "sent_to": .strings(destination.map { [$0] } ?? []),
            "permissions": .object(permissions.json),
            "purposes": .array(purposes.map { .object($0.json) }),
            "report": .array(Self.reportFields.map { json($0) }),
            "registration": .array(Self.registrationFields.map { json($0) }),
            "collectors": .array(
                collectors.map { collector in
                    .object([
                        "name": .string(collector.name), "version": .string(collector.version), "trace": .string(collector.trace),
                        "requires": .strings(collector.requires.map(\.rawValue)), "fields": .array(collector.fields.map { json($0) }),
                    ])
                }),
        ])
    }

    private func json(_ field: FieldDeclaration) -> JSONValue {
        var object: JSONObject = ["name": .string(field.name), "type": .string(field.type.rawValue)]
        object["unit"] = field.unit.map { .string($0.symbol) }
        object["class"] = .string(field.privacy.rawValue)
        object["permission"] = field.permission.map { .string($0.rawValue) }
        object["allowed_now"] = .bool(permissions.allows(field.permission))
        object["changes"] = .string(field.changes.text(unit: field.unit))
        object["purpose"] = .string(field.purpose)
        object["about"] = .string(field.about)
        if !field.members.isEmpty { object["members"] = .array(field.members.map { json($0) }) }
        return .object(object)
    }
}
