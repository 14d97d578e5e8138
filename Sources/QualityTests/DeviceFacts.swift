internal import Glibc
public import MeasurementModel

/// What kind of machine a test ran on. Nothing in it tells one machine from another of its kind: no serial number, host name or machine id.
public struct DeviceFacts: Sendable, Hashable {
    public var model: String?
    /// Name and release, such as `Linux 6.1.0-18-amd64`.
    public var kernel: String?
    public var architecture: String?
    /// As os-release(5) names it, such as `Debian GNU/Linux 12 (bookworm)`.
    public var system: String?

    public static let ofThisMachine = DeviceFacts(root: "")

    /// - Parameter root: put before each path that is read.
    init(root: String) {
        model = Self.model(root)
        system = TextFile.read(root + "/etc/os-release").flatMap { Self.value("PRETTY_NAME", in: $0) }
        var name = utsname()
        if uname(&name) == 0 {
            kernel = "\(Self.text(name.sysname)) \(Self.text(name.release))"
            architecture = Self.text(name.machine)
        }
    }

    public var json: JSONObject {
        var object = JSONObject()
        object["model"] = model.map(JSONValue.string)
        object["kernel"] = kernel.map(JSONValue.string)
        object["architecture"] = architecture.map(JSONValue.string)
        object["os"] = system.map(JSONValue.string)
        return object
    }

    /// The device tree's model on boards, the firmware's product name on PCs. What vendors write when they write nothing is left out.
    private static func model(_ root: String) -> String? {
        let fillers = ["to be filled by o.e.m.", "default string", "system product name", "not applicable", "none", "o.e.m."]
        for path in ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"] {
            guard let text = TextFile.read(root + path) else { continue }
            let model = text.filter { !$0.isNewline && $0 != "\0" }.trimmed
            if !model.isEmpty, !fillers.contains(model.lowercased()) { return model }
        }
        return nil
    }

    static func value(_ key: String, in release: String) -> String? {
        for line in release.split(whereSeparator: \.isNewline) where line.hasPrefix(key + "=") {
            var value = String(line.dropFirst(key.count + 1)).trimmed
            if value.count >= 2, let quote = value.first, quote == "\"" || quote == "'", value.last == quote {
                value = String(value.dropFirst().dropLast())
            }
            return value.isEmpty ? nil : value
        }
        return nil
    }

    private static func text<Tuple>(_ field: Tuple) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// Small files of the system.
enum TextFile {
    /// - Returns: nil when the file cannot be read.
    static func read(_ path: String, limit: Int = 64 * 1024) -> String? {
        guard let stream = fopen(path, "re") else { return nil }
        defer { fclose(stream) }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = fread(&buffer, 1, limit, stream)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}

extension String {
    fileprivate var trimmed: String {
        var rest = self[...]
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
