internal import CLinux
internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// The configuration of one call of the program: the file, and over it what `--set` says. Everything in it has been checked.
struct Configuration: Sendable {
    static let standardPath = "/etc/fieldprobe/fieldprobe.conf"

    /// The file that was read; nil when there is none.
    private(set) var file: String?
    private var values: [String: String] = [:]
    private var purposes: [String] = []

    /// Everything at its default.
    init() {}

    /// - Throws: ``CommandFailure`` that names file and line.
    init(_ arguments: ParsedArguments) throws {
        let path = arguments.value("config") ?? Self.standardPath
        var entries: [ConfigurationEntry] = []
        if let text = try Self.read(path, isRequired: arguments.isSet("config")) {
            file = path
            entries = try ConfigurationText.entries(text, file: path)
        }
        try take(entries)
        try take(arguments.all("set").map(ConfigurationText.assignment))
        try checkPurposes(entries)
    }

    /// For one text, without a file.
    init(text: String, file: String = "fieldprobe.conf", set: [String] = []) throws {
        let entries = try ConfigurationText.entries(text, file: file)
        try take(entries)
        try take(set.map(ConfigurationText.assignment))
        try checkPurposes(entries)
    }

    static func read(_ path: String, isRequired: Bool) throws -> String? {
        let descriptor = clinux_open(path, O_RDONLY, 0)
        if descriptor == -ENOENT, !isRequired { return nil }
        guard descriptor >= 0 else {
            throw CommandFailure(.configuration, "\(path): the configuration cannot be read: \(SystemError.text(-descriptor))")
        }
        defer { close(descriptor) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                throw CommandFailure(.configuration, "\(path): the configuration cannot be read: \(SystemError.text(errno))")
            }
            if count == 0 { break }
            octets += buffer[..<count]
            guard octets.count <= 1 << 20 else {
                throw CommandFailure(.configuration, "\(path): a configuration is no longer than 1 MiB: is this the right file?")
            }
        }
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw CommandFailure(.configuration, "\(path): the configuration is not text in UTF-8")
        }
        return text
    }

    private mutating func take(_ entries: [ConfigurationEntry]) throws {
        for entry in entries {
            guard let section = ConfigurationTable.section(entry.section) else {
                throw ConfigurationText.fault(
                    entry.place, "there is no section [\(entry.section)]: there are \(ConfigurationTable.sections.joined(separator: ", "))")
            }
            if section == "purpose.KEY", !purposes.contains(entry.section) { purposes.append(entry.section) }
            if entry.key.isEmpty { continue }
            guard let key = ConfigurationTable.key(entry.section, entry.key) else {
                let known = ConfigurationTable.keys.filter { $0.section == section }.map(\.name).joined(separator: ", ")
                throw ConfigurationText.fault(entry.place, "there is no key '\(entry.key)' in [\(entry.section)]: there are \(known)")
            }
            guard key.value.admits(entry.value) else {
                throw ConfigurationText.fault(
                    entry.place, "'\(entry.key)' in [\(entry.section)] needs \(key.value.form), and '\(entry.value)' is none")
            }
            values["\(entry.section).\(entry.key)"] = entry.value
        }
    }

    /// A purpose is told to people: one without its text is none (R-25).
    private func checkPurposes(_ entries: [ConfigurationEntry]) throws {
        for purpose in purposes where values["\(purpose).text"] == nil {
            let place = entries.first { $0.section == purpose }?.place ?? "--set"
            throw ConfigurationText.fault(place, "[\(purpose)] needs 'text': what the purpose is, in a sentence")
        }
    }

    func text(_ section: String, _ key: String) -> String? {
        values["\(section).\(key)"] ?? ConfigurationTable.key(section, key)?.fallback
    }

    func yesNo(_ section: String, _ key: String) -> Bool { text(section, key).flatMap(ConfigurationValue.yesNo) ?? false }

    var stateDirectory: String { text("fieldprobe", "state-directory") ?? "" }
    var apiEndpoint: String? { text("fieldprobe", "api-endpoint") }

    /// What every run may see.
    var permissions: Permissions { Permissions(granted: granted(in: "permissions")) }

    /// What one run may see, with what its purpose adds.
    func permissions(purpose key: String?) throws -> Permissions {
        guard let key else { return permissions }
        let section = "purpose.\(key)"
        guard purposes.contains(section), let text = text(section, "text") else {
            let known = purposes.map { $0.dropFirst("purpose.".count) }.joined(separator: ", ")
            throw CommandFailure(
                .usage,
                "there is no purpose '\(key)' in the configuration: "
                    + (known.isEmpty ? "write a section [\(section)]" : "there are \(known)"))
        }
        return permissions.granting(granted(in: section), for: Permissions.Purpose(key: key, text: text))
    }

    /// What a run may see for each configured purpose, in the order of the file.
    var configuredPurposes: [Permissions] {
        get throws { try purposes.map { try permissions(purpose: String($0.dropFirst("purpose.".count))) } }
    }

    private func granted(in section: String) -> Set<Permission> {
        var granted: Set<Permission> = []
        if yesNo(section, "precise-location") { granted.insert(.preciseLocation) }
        if yesNo(section, "wifi-identity") { granted.insert(.wifiIdentity) }
        return granted
    }
}
