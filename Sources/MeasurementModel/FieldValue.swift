/// The value of one field in a snapshot. There is no null: what is not known is left out.
public enum FieldValue: Sendable, Hashable {
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    /// Several records of the same shape, such as the links of a multi-link association.
    case records([[String: FieldValue]])

    /// Any whole number; one that 64 bits cannot hold becomes the nearest that they can.
    public static func integer(_ value: some BinaryInteger) -> FieldValue { .integer(Int64(clamping: value)) }

    /// The value as a number, when it is one.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    public var text: String? { if case .text(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The value as JSON; nil for a number that JSON cannot say.
    public var json: JSONValue? {
        switch self {
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .text(let value): return .string(value)
        case .records(let records):
            return .array(
                records.map { record in
                    var object = JSONObject()
                    for (key, value) in record.sorted(by: { $0.key < $1.key }) {
                        if let json = value.json { object.append(key, json) }
                    }
                    return .object(object)
                })
        }
    }
}
