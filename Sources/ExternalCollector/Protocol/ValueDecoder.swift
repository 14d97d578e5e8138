internal import CollectorCore
internal import MeasurementModel

/// Makes field values of a record's JSON, by the declared types: JSON does not tell 41 from 41.0. What is declared, permitted and finite is
/// the recorder's business.
struct ValueDecoder {
    private let fields: [String: FieldDeclaration]

    init(_ fields: [FieldDeclaration]) {
        self.fields = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
    }

    /// - Returns: the values, and for each that is none a word that the honesty record counts. A null is a value that is left out.
    func values(_ object: JSONObject) -> (values: [String: FieldValue], refused: [CollectorMessage.Fault]) {
        var refused: [CollectorMessage.Fault] = []
        let values = decode(object, fields, path: "", &refused)
        return (values, refused)
    }

    private func decode(
        _ object: JSONObject, _ fields: [String: FieldDeclaration], path: String, _ refused: inout [CollectorMessage.Fault]
    ) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for (key, json) in object.members {
            if case .null = json { continue }
            guard let field = fields[key] else {
                // The name is not part of the report: a program that takes a network's name for a key would tell it there.
                refused.append(CollectorMessage.Fault(word: "undeclared", detail: "the descriptor has no field '\(path)\(key)'"))
                continue
            }
            if let value = value(json, field, path: path + key, &refused) { values[key] = value }
        }
        return values
    }

    private func value(_ json: JSONValue, _ field: FieldDeclaration, path: String, _ refused: inout [CollectorMessage.Fault]) -> FieldValue?
    {
        switch (json, field.type) {
        case (.bool(let value), .bool): return .bool(value)
        case (.string(let text), .text): return .text(text)
        case (.number(let number), .integer):
            if let whole = number.int64 { return .integer(whole) }
            refused.append(Self.wrongType(json, field, path))
        case (.number(let number), .number):
            if let value = number.double { return .number(value) }
            refused.append(
                CollectorMessage.Fault(word: "not_finite:\(path)", detail: "the field '\(path)' is beyond the numbers of a double"))
        case (.array(let array), .records):
            let members = Dictionary(field.members.map { ($0.name, $0) }) { first, _ in first }
            var records: [[String: FieldValue]] = []
            for json in array {
                guard let object = json.object else {
                    refused.append(Self.wrongType(json, field, path))
                    return nil
                }
                records.append(decode(object, members, path: path + ".", &refused))
            }
            return .records(records)
        default: refused.append(Self.wrongType(json, field, path))
        }
        return nil
    }

    private static func wrongType(_ json: JSONValue, _ field: FieldDeclaration, _ path: String) -> CollectorMessage.Fault {
        let kind =
            switch json {
            case .null: "null"
            case .bool: "a truth value"
            case .number: "a number"
            case .string: "a text"
            case .array: "an array"
            case .object: "an object"
            }
        return CollectorMessage.Fault(
            word: "type:\(path)", detail: "the field '\(path)' is declared as '\(field.type.rawValue)', and the value is \(kind)")
    }
}
