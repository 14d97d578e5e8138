/// A JSON document as a value (RFC 8259). Object members keep their order, and numbers their digits: what a measured command
/// printed is neither rounded nor reordered on its way into a report.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// A JSON number by its digits.
public struct JSONNumber: Sendable, Hashable {
    /// The number as JSON writes it.
    public let lexeme: String

    /// A number that the parser has already found well formed.
    init(validated lexeme: String) { self.lexeme = lexeme }

    public init(_ value: Int64) { lexeme = String(value) }

    /// Nil for NaN and the infinities, which JSON cannot say.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        // Swift's description is the shortest text that reads back as the same number; "1.0" is shown as JSON's usual "1".
        let text = value.description
        lexeme = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// The nearest number with 53 bits; nil when it is beyond them (1e999).
    public var double: Double? {
        guard let value = Double(lexeme), value.isFinite else { return nil }
        return value
    }

    /// The number when it is a whole one that fits.
    public var int64: Int64? {
        if let value = Int64(lexeme) { return value }
        guard let value = Double(lexeme), value.rounded() == value, abs(value) < 9.0e15 else { return nil }
        return Int64(value)
    }
}

/// The members of a JSON object, in order.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public private(set) var members: [(key: String, value: JSONValue)] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    public var isEmpty: Bool { members.isEmpty }

    /// The member of this name; setting nil removes it, and a new member comes last.
    public subscript(key: String) -> JSONValue? {
        get { members.first { $0.key == key }?.value }
        set {
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member that the caller knows to be new: the parser's and the writers' way, without a search.
    mutating func append(_ key: String, _ value: JSONValue) { members.append((key, value)) }

    /// The members with a repeated key reduced to its last one, as RFC 8259 section 4 describes most readers.
    func withoutRepeats() -> JSONObject {
        guard Set(members.lazy.map(\.key)).count != members.count else { return self }
        var last: [String: Int] = [:]
        for (index, member) in members.enumerated() { last[member.key] = index }
        var result = JSONObject()
        for (index, member) in members.enumerated() where last[member.key] == index { result.append(member.key, member.value) }
        return result
    }

    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count
            && zip(left.members, right.members).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    }

    public func hash(into hasher: inout Hasher) {
        for member in members {
            hasher.combine(member.key)
            hasher.combine(member.value)
        }
    }
}

extension JSONValue {
    /// Any whole number; one that 64 bits cannot hold becomes the nearest that they can.
    public static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(JSONNumber(Int64(clamping: value)))
    }

    /// Nil for what JSON cannot say, so that a caller leaves the member out.
    public static func real(_ value: Double) -> JSONValue? {
        JSONNumber(value).map(JSONValue.number)
    }

    /// An array of texts.
    public static func strings(_ values: some Sequence<String>) -> JSONValue { .array(values.map(JSONValue.string)) }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    public var double: Double? { number?.double }
    public var int64: Int64? { number?.int64 }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The member of this name; nil where this is no object or has none.
    public subscript(key: String) -> JSONValue? { object?[key] }
    /// The element at this place; nil where this is no array or too short.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}
