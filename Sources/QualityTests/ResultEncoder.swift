internal import MeasurementModel

/// Turns any `Encodable` into a JSON value: members in the order in which they are encoded, and without what JSON cannot say.
///
/// Types encode as they encode themselves: there is no special case for dates or addresses.
final class ResultEncoder: Encoder {
    private enum Shape { case nothing, value(JSONValue), array, object }

    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    /// Nothing stays nothing for a nil, and for a number that is not finite.
    private var shape = Shape.nothing
    private var elements: [ResultEncoder] = []
    private var members: [(key: String, value: ResultEncoder)] = []

    private init(_ codingPath: [any CodingKey]) { self.codingPath = codingPath }

    static func json(_ value: some Encodable) throws -> JSONValue? {
        let encoder = ResultEncoder([])
        try encoder.put(value)
        return encoder.json
    }

    private var json: JSONValue? {
        switch shape {
        case .nothing: return nil
        case .value(let value): return value
        // A place in an array has a meaning, so that nothing cannot just be left out of it.
        case .array: return .array(elements.map { $0.json ?? .null })
        case .object:
            var object = JSONObject()
            for (key, member) in members {
                if let json = member.json { object[key] = json }
            }
            return .object(object)
        }
    }

    fileprivate func put<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let value as JSONValue: shape = .value(value)
        case let value as any MeasurementResult: shape = .value(value.json)
        case let value as Bool: shape = .value(.bool(value))
        case let value as String: shape = .value(.string(value))
        case let value as any BinaryInteger: shape = .value(try JSONValue(parsing: value.description))
        case let value as Double: shape = JSONValue.real(value).map(Shape.value) ?? .nothing
        // By its own shortest text: as a double, 0.1 would become 0.10000000149011612.
        case let value as Float: shape = Double(value.description).flatMap(JSONValue.real).map(Shape.value) ?? .nothing
        default: try value.encode(to: self)
        }
    }

    fileprivate func member(_ key: any CodingKey) -> ResultEncoder {
        let member = ResultEncoder(codingPath + [key])
        members.append((key.stringValue, member))
        return member
    }

    fileprivate func element() -> ResultEncoder {
        let element = ResultEncoder(codingPath)
        elements.append(element)
        return element
    }

    fileprivate var count: Int { elements.count }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        shape = .object
        return KeyedEncodingContainer(KeyedResult<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        shape = .array
        return UnkeyedResult(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleResult(encoder: self) }
}

private struct KeyedResult<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ResultEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) {}
    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try encoder.member(key).put(value) }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        encoder.member(key).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.member(key).unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { encoder.member(SuperKey()) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder.member(key) }
}

private struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

private struct UnkeyedResult: UnkeyedEncodingContainer {
    let encoder: ResultEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    mutating func encodeNil() { _ = encoder.element() }
    mutating func encode(_ value: some Encodable) throws { try encoder.element().put(value) }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.element().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.element().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { encoder.element() }
}

private struct SingleResult: SingleValueEncodingContainer {
    let encoder: ResultEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() {}
    mutating func encode(_ value: some Encodable) throws { try encoder.put(value) }
}
