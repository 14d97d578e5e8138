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
    func values(_ object: JSONObject) -> (values: [String: FieldValue], refused: [String]) {
        var refused: [String] = []
        let values = decode(object, fields, path: "", &refused)
        return (values, refused)
    }

    private func decode(
        _ object: JSONObject, _ fields: [String: FieldDeclaration], path: String, _ refused: inout [String]
    ) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for (key, json) in object.members {
            if case .null = json { continue }
            guard let field = fields[key] else {
                // Handed on with any value, so that the recorder counts it as every other undeclared one.
                values[key] = .bool(true)
                continue
            }
            if let value = value(json, field, path: path + key, &refused) { values[key] = value }
        }
        return values
    }

    private func value(_ json: JSONValue, _ field: FieldDeclaration, path: String, _ refused: inout [String]) -> FieldValue? {
        switch (json, field.type) {
        case (.bool(let value), _): return .bool(value)
        case (.string(let text), _): return .text(text)
        case (.number(let number), .integer):
            if let whole = number.int64 { return .integer(whole) }
            refused.append("type:\(path)")
        case (.number(let number), _):
            if let value = number.double { return .number(value) }
            refused.append("not_finite:\(path)")
        case (.array(let array), .records):
            let members = Dictionary(field.members.map { ($0.name, $0) }) { first, _ in first }
            var records: [[String: FieldValue]] = []
            for json in array {
                guard let object = json.object else {
                    refused.append("type:\(path)")
                    return nil
                }
                records.append(decode(object, members, path: path + ".", &refused))
            }
            return .records(records)
        default: refused.append("type:\(path)")
        }
        return nil
    }
}
