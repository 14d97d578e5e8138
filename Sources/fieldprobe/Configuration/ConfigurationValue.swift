internal import MeasurementModel

/// The types that configuration values have, each with its reader.
enum ConfigurationValue: Sendable {
    case yesNo
    case duration
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case text
    case path
    case url
    /// A host name or an address.
    case host
    case endpoint
    /// Interface names, separated by spaces.
    case interfaces
    /// `tun0=203.0.113.50`, separated by spaces.
    case peers

    /// What a value has to look like, for errors and documentation.
    var form: String {
        switch self {
        case .yesNo: "'yes' or 'no'"
        case .duration: "a duration longer than zero and of at most 10 years, such as 500ms, 10s or 2min"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range):
            "a number from \(JSONValue.real(range.lowerBound)?.text() ?? "") to \(JSONValue.real(range.upperBound)?.text() ?? "")"
        case .text: "a text"
        case .path: "an absolute path"
        case .url: "an address such as https://server/client_api/v1"
        case .host: "a host name or an address"
        case .endpoint: "host:port, such as 127.0.0.1:2947 or [::1]:2947"
        case .interfaces: "interface names, separated by spaces"
        case .peers: "interface=address, separated by spaces, such as tun0=203.0.113.50"
        }
    }

    func admits(_ text: String) -> Bool {
        switch self {
        case .yesNo: Self.yesNo(text) != nil
        case .duration: Self.duration(text) != nil
        case .integer(let range): Int(text).map(range.contains) ?? false
        case .number(let range): Double(text).map { $0.isFinite && range.contains($0) } ?? false
        case .text: !text.isEmpty
        case .path: text.hasPrefix("/")
        case .url: ["http://", "https://"].contains { text.hasPrefix($0) && text.count > $0.count } && !text.contains(" ")
        case .host: Self.isHost(text)
        case .endpoint: Self.endpoint(text) != nil
        case .interfaces: !Self.words(text).isEmpty && Self.words(text).allSatisfy(Self.isInterface)
        case .peers: Self.peers(text) != nil
        }
    }

    static func yesNo(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "on", "1": true
        case "no", "false", "off", "0": false
        default: nil
        }
    }

    /// What every deadline can hold, and nobody waits longer for.
    private static let longest: Duration = .seconds(10 * 365 * 86_400)

    /// A whole number and its unit: `500ms`, `10s`, `2min`, `1h`.
    static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard let count = Int64(digits), count > 0, count <= 1_000_000_000_000 else { return nil }
        let duration: Duration
        switch String(text.dropFirst(digits.count)).trimmed {
        case "ms": duration = .milliseconds(count)
        case "s": duration = .seconds(count)
        case "min": duration = .seconds(count * 60)
        case "h": duration = .seconds(count * 3600)
        default: return nil
        }
        return duration <= longest ? duration : nil
    }

    static func endpoint(_ text: String) -> (host: String, port: UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard IPAddress(host)?.family == .ipv6 else { return nil }
        } else if host.contains(":") {
            return nil
        }
        return isHost(host) ? (host, port) : nil
    }

    static func words(_ text: String) -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }

    static func peers(_ text: String) -> [(interface: String, peer: IPAddress)]? {
        var peers: [(interface: String, peer: IPAddress)] = []
        for word in words(text) {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, isInterface(parts[0]), let peer = IPAddress(parts[1]) else { return nil }
            peers.append((parts[0], peer))
        }
        return peers.isEmpty ? nil : peers
    }

    /// As the kernel's dev_valid_name: at most 15 octets, no slash, colon or space.
    private static func isInterface(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".." && !name.contains { $0 == "/" || $0 == ":" || $0.isWhitespace }
    }

    private static func isHost(_ text: String) -> Bool {
        if IPAddress(text) != nil { return true }
        let labels = (text.last == "." ? text.dropLast() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
        // What ends in a number is an address or a mistake (RFC 3696, section 2), and 1.2.3 would be taken as 1.2.0.3.
        guard labels.allSatisfy({ (1...63).contains($0.count) }), labels.last?.contains(where: { !("0"..."9").contains($0) }) == true else {
            return false
        }
        let isName = text.utf8.allSatisfy { octet in
            octet >= 0x80 || octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "_")
                || (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet)
        }
        return isName && !text.isEmpty && text.utf8.count <= 253 && text.first != "-" && text.first != "."
    }
}
