internal import MeasurementModel

enum CapabilityCreateCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "capability create", operand: "NAME", about: "Say what devices may measure",
        options: [
            .value("allow-type", "TYPE", repeatable: true, "Allow this type only"),
            .value("allow-subject", "SUBJECT", repeatable: true, "Allow this subject only"),
            .value("forbid-type", "TYPE", repeatable: true, "Forbid this type"),
            .value("forbid-subject", "SUBJECT", repeatable: true, "Forbid this subject"),
            .flag("replace", "Change one that is there: its devices learn of it when they next authenticate"),
        ],
        details: "Forbidden beats allowed. Without anything allowed, everything is that is not forbidden.")

    static func run(_ arguments: ParsedArguments) throws {
        let name = arguments.operand
        guard (1...100).contains(name.count), RequestDocument.isPrintable(name) else {
            throw arguments.fault("NAME must have 1 to 100 printable characters")
        }
        let capability = Capability(
            name: name, allowTypes: arguments.all("allow-type"), allowSubjects: arguments.all("allow-subject"),
            forbidTypes: arguments.all("forbid-type"), forbidSubjects: arguments.all("forbid-subject"))
        let administration = try Administration(arguments)
        guard try administration.store.create(capability, replacing: arguments.isSet("replace")) else {
            throw CommandFailure(.refused, "there is a capability '\(name)' already: --replace changes it")
        }
        try administration.print(.object(capability.named), "\(name) is ready: 'fieldprobe-server key create --capability \(name)' uses it")
    }
}

enum CapabilityListCommand: Subcommand {
    static let syntax = CommandSyntax(name: "capability list", about: "Show all capabilities")

    static func run(_ arguments: ParsedArguments) throws {
        let administration = try Administration(arguments)
        let all = try administration.store.capabilities()
        var table = TextTable("NAME", "ALLOWED TYPES", "ALLOWED SUBJECTS", "FORBIDDEN TYPES", "FORBIDDEN SUBJECTS")
        for capability in all {
            table.add(
                capability.name, capability.allowTypes.joined(separator: " "), capability.allowSubjects.joined(separator: " "),
                capability.forbidTypes.joined(separator: " "), capability.forbidSubjects.joined(separator: " "))
        }
        try administration.print(.array(all.map { .object($0.named) }), table.text)
    }
}

extension Capability {
    fileprivate var named: JSONObject {
        var object: JSONObject = ["name": .string(name)]
        for (key, value) in json.object?.members ?? [] { object[key] = value }
        return object
    }
}
