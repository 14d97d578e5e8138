internal import CollectorCore
internal import ExternalCollector
internal import MeasurementModel

/// `NAME.conf` of an installed collector: how it is run, and its own keys.
struct CollectorFile {
    static let keys = [
        ConfigurationKey("collector", "enabled", .yesNo, default: "yes", "Run it beside tests"),
        ConfigurationKey("collector", "program", .path, default: nil, "The program (default: the file in the folder of collectors)"),
        ConfigurationKey("collector", "library", .path, default: nil, "The shared library, instead of a program"),
        ConfigurationKey("collector", "arguments", .text, default: nil, "The program's arguments, separated by spaces"),
        ConfigurationKey("collector", "user", .text, default: nil, "User to run it as (default: the one that runs fieldprobe)"),
        ConfigurationKey(
            "collector", "memory-limit", .integer(1...1_048_576), default: "256", "MiB of private memory of each of its processes"),
        ConfigurationKey(
            "collector", "processor-burst", .number(1...86_400), default: "10", "Seconds of processor time that it may use at once"),
        ConfigurationKey(
            "collector", "processor-share", .number(0.1...10_000), default: "10", "Percent of one processor that it may use in the long run"
        ),
    ]

    private var values: [String: String] = [:]
    private var own: [String: String] = [:]

    /// Everything at its default.
    init() {}

    /// - Throws: ``CommandFailure`` with file and line.
    init(reading file: String) throws {
        guard let text = try Configuration.read(file, isRequired: true) else { return }
        for entry in try ConfigurationText.entries(text, file: file) where !entry.key.isEmpty || !Self.isSection(entry.section) {
            switch entry.section {
            case "configuration": own[entry.key] = entry.value
            case "collector":
                guard let key = Self.keys.first(where: { $0.name == entry.key }) else {
                    let known = Self.keys.map(\.name).joined(separator: ", ")
                    throw ConfigurationText.fault(entry.place, "there is no key '\(entry.key)' in [collector]: there are \(known)")
                }
                guard key.value.admits(entry.value) else {
                    throw ConfigurationText.fault(entry.place, "'\(entry.key)' needs \(key.value.form), and '\(entry.value)' is none")
                }
                values[entry.key] = entry.value
            default:
                throw ConfigurationText.fault(
                    entry.place, "there is no section [\(entry.section)]: there are [collector], and [configuration] with its own keys")
            }
        }
    }

    private static func isSection(_ name: String) -> Bool { name == "collector" || name == "configuration" }

    private func text(_ key: String) -> String? { values[key] ?? Self.keys.first { $0.name == key }?.fallback }

    var isEnabled: Bool { text("enabled").flatMap(ConfigurationValue.yesNo) ?? true }

    /// - Parameter installed: its file in the folder of collectors, if it has one there.
    /// - Throws: ``CommandFailure`` when it is not clear what to run.
    func collector(_ name: String, installed: String?, isLibrary: Bool) throws -> (collector: ProgramCollector, file: String) {
        var settings = ProgramCollector.Settings()
        settings.user = text("user")
        settings.requiresTrust = true
        settings.configuration = own
        settings.limits.memory = (text("memory-limit").flatMap(Int64.init) ?? 256) << 20
        settings.limits.processorBurst = text("processor-burst").flatMap(Double.init) ?? settings.limits.processorBurst
        settings.limits.processorShare = text("processor-share").flatMap(Double.init).map { $0 / 100 } ?? settings.limits.processorShare
        let arguments = (text("arguments") ?? "").split(separator: " ").map(String.init)
        switch (values["program"], values["library"], installed) {
        case (_?, _?, _):
            throw CommandFailure(.configuration, "'program' and 'library' exclude each other")
        case (let program?, nil, _):
            return (ProgramCollector(name: name, program: program, arguments: arguments, settings: settings), program)
        case (nil, let library?, _):
            return (ProgramCollector(name: name, library: library, settings: settings), library)
        case (nil, nil, let installed?):
            return isLibrary
                ? (ProgramCollector(name: name, library: installed, settings: settings), installed)
                : (ProgramCollector(name: name, program: installed, arguments: arguments, settings: settings), installed)
        case (nil, nil, nil):
            throw CommandFailure(.configuration, "[collector] needs 'program' or 'library', since no file of this name is installed")
        }
    }
}
