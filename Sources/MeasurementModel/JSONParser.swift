/// What is wrong with a text that is not JSON, and where.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Octets before the fault.
    public let offset: Int
    public let message: String

    public var description: String { "not JSON at octet \(offset): \(message)" }
}

extension JSONValue {
    /// Reads one complete document by RFC 8259, and nothing looser: no NaN, no comments, no trailing comma, nothing after the end.
    /// Text that is not valid UTF-8 is refused. A repeated key keeps its last value.
    ///
    /// - Parameters:
    ///   - octets: the document in UTF-8.
    ///   - maximumDepth: nesting beyond it is refused, so that hostile input cannot exhaust the stack.
    /// - Throws: ``JSONSyntaxError``.
    public init(parsing octets: some Sequence<UInt8>, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        var parser = JSONParser(octets: Array(octets), maximumDepth: maximumDepth)
        self = try parser.document()
    }

    public init(parsing text: String, maximumDepth: Int = 64) throws(JSONSyntaxError) {
        try self.init(parsing: text.utf8, maximumDepth: maximumDepth)
    }
}

private struct JSONParser {
    let octets: [UInt8]
    let maximumDepth: Int
    var position = 0
    var depth = 0

    init(octets: [UInt8], maximumDepth: Int) {
        self.octets = octets
        self.maximumDepth = maximumDepth
    }

    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        let value = try value()
        skipSpace()
        guard position == octets.count else { throw fault("more follows the end of the document") }
        return value
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw fault("the text ends where a value should be")
        case let octet? where octet == UInt8(ascii: "-") || Self.isDigit(octet): return .number(try number())
        case let octet?:
            let shown = (0x21...0x7E).contains(octet) ? "'\(Character(UnicodeScalar(octet)))'" : "octet \(octet)"
            throw fault("a value cannot start with \(shown)")
        }
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONValue {
        try enter()
        var object = JSONObject()
        skipSpace()
        if accept("}") {
            depth -= 1
            return .object(object)
        }
        repeat {
            skipSpace()
            guard peek() == UInt8(ascii: "\"") else { throw fault("a member's name is missing") }
            let key = try string()
            skipSpace()
            guard accept(":") else { throw fault("a colon is missing") }
            skipSpace()
            object.append(key, try value())
            skipSpace()
        } while accept(",")
        guard accept("}") else { throw fault("an object is not closed") }
        depth -= 1
        return .object(object.withoutRepeats())
    }

    private mutating func array() throws(JSONSyntaxError) -> JSONValue {
        try enter()
        var values: [JSONValue] = []
        skipSpace()
        if accept("]") {
            depth -= 1
            return .array(values)
        }
        repeat {
            skipSpace()
            values.append(try value())
            skipSpace()
        } while accept(",")
        guard accept("]") else { throw fault("an array is not closed") }
        depth -= 1
        return .array(values)
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        while let octet = peek(), octet != UInt8(ascii: "\""), octet != UInt8(ascii: "\\"), octet >= 0x20 { position += 1 }
        if peek() == UInt8(ascii: "\"") {
            let text = String(validating: octets[start..<position], as: UTF8.self)
            position += 1
            guard let text else { throw fault("text is not UTF-8") }
            return text
        }
        var content = Array(octets[start..<position])
        while true {
            switch peek() {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: content, as: UTF8.self) else { throw fault("text is not UTF-8") }
                return text
            case UInt8(ascii: "\\"):
                position += 1
                content.append(contentsOf: try escape())
            case nil: throw fault("text is not closed")
            case let octet? where octet < 0x20: throw fault("a control character stands in text")
            case let octet?:
                content.append(octet)
                position += 1
            }
        }
    }

    private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
        guard let octet = peek() else { throw fault("text is not closed") }
        position += 1
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [octet]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(Character(try scalar())).utf8)
        default: throw fault("an unknown escape")
        }
    }

    private mutating func scalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try hex4()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), accept("\\"), accept("u") else { throw fault("half a surrogate pair") }
        let second = try hex4()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw fault("half a surrogate pair") }
        return scalar
    }

    private mutating func hex4() throws(JSONSyntaxError) -> UInt32 {
        guard position + 4 <= octets.count,
            let text = String(validating: octets[position..<position + 4], as: UTF8.self),
            text.allSatisfy(\.isHexDigit), let value = UInt32(text, radix: 16)
        else { throw fault("four hexadecimal digits are missing") }
        position += 4
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
        let start = position
        _ = accept("-")
        if !accept("0") { try digits() }
        if accept(".") { try digits() }
        if accept("e") || accept("E") {
            if !accept("+") { _ = accept("-") }
            try digits()
        }
        return JSONNumber(validated: String(decoding: octets[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let octet = peek(), Self.isDigit(octet) { position += 1 }
        guard position > start else { throw fault("a digit is missing") }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let matches = word.withUTF8Buffer { octets[position...].starts(with: $0) }
        guard matches else { throw fault("an unknown word") }
        position += word.utf8CodeUnitCount
        return value
    }

    private mutating func enter() throws(JSONSyntaxError) {
        position += 1
        depth += 1
        guard depth <= maximumDepth else { throw fault("nested deeper than \(maximumDepth)") }
    }

    private mutating func skipSpace() {
        while let octet = peek(), octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 { position += 1 }
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }

    private func peek() -> UInt8? { position < octets.count ? octets[position] : nil }

    private mutating func accept(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func fault(_ message: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, message: message) }
}
