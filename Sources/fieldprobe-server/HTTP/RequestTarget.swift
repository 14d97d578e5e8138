/// Where a request wants to go, read strictly: nothing is decoded in the path, so `%2f`, `..` and `//` lead nowhere.
struct RequestTarget: Sendable {
    let segments: [String]
    private let query: [(name: String, value: String)]

    /// Nil for a target that no route of this server can have.
    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].dropFirst()
        let segments = path.isEmpty ? [] : path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.allSatisfy(Self.isPlain) }) else { return nil }
        guard let query = FormText.pairs(parts.count == 2 ? parts[1] : "") else { return nil }
        self.segments = segments
        self.query = query
    }

    /// A query's value; nil when it is missing, empty, or given twice.
    func value(_ name: String) -> String? {
        let found = query.filter { $0.name == name }
        return found.count == 1 && !found[0].value.isEmpty ? found[0].value : nil
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// application/x-www-form-urlencoded: what forms and queries are written in.
enum FormText {
    /// Nil for a broken escape, or text that is not UTF-8.
    static func pairs(_ text: some StringProtocol) -> [(name: String, value: String)]? {
        var result: [(String, String)] = []
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard result.count < 64, let name = decoded(sides[0]), let value = decoded(sides.count == 2 ? sides[1] : "") else { return nil }
            result.append((name, value))
        }
        return result
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "+"): octets.append(0x20)
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let text = String(validating: digits, as: UTF8.self), text.allSatisfy(\.isHexDigit),
                    let value = UInt8(text, radix: 16), value != 0
                else { return nil }
                octets.append(value)
                rest = rest.dropFirst(2)
            default: octets.append(octet)
            }
        }
        return String(validating: octets, as: UTF8.self)
    }

    static func encoded(_ text: String) -> String {
        var result = ""
        for octet in text.utf8 {
            let character = Character(Unicode.Scalar(octet))
            if character.isASCII, character.isLetter || character.isNumber || "-_.".contains(character) {
                result.append(character)
            } else {
                result += "%" + Hash.hex([octet])
            }
        }
        return result
    }
}
