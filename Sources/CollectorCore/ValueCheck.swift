internal import MeasurementModel

/// What the recorder lets through: declared, permitted, of the right type, and really a value.
struct ValueCheck {
    /// Longer texts are no field values.
    static let maximumTextOctets = 4096
    static let maximumRecords = 256

    private(set) var rejected: [String] = []
    private(set) var withheld: [String] = []
    let permissions: Permissions

    init(permissions: Permissions) { self.permissions = permissions }

    /// The values in the order of the declarations; nil where there is none.
    mutating func ordered(_ values: [String: FieldValue], by fields: [FieldDeclaration], path: String = "") -> [FieldValue?] {
        var found = 0
        let result = fields.map { field -> FieldValue? in
            guard let value = values[field.name] else { return nil }
            found += 1
            return check(value, by: field, path: path)
        }
        if found != values.count {
            let declared = Set(fields.map(\.name))
            for name in values.keys where !declared.contains(name) { rejected.append("undeclared:\(path)\(name)") }
        }
        return result
    }

    private mutating func check(_ value: FieldValue, by field: FieldDeclaration, path: String) -> FieldValue? {
        let name = path + field.name
        guard permissions.allows(field.permission) else {
            withheld.append(name)
            return nil
        }
        guard field.type.admits(value) else {
            rejected.append("type:\(name)")
            return nil
        }
        switch value {
        case .number(let number) where !number.isFinite:
            rejected.append("not_finite:\(name)")
            return nil
        case .text(let text) where text.isEmpty:
            rejected.append("empty:\(name)")
            return nil
        case .text(let text) where text.utf8.count > Self.maximumTextOctets:
            rejected.append("too_long:\(name)")
            return nil
        case .records(let records):
            return checked(records, by: field, name: name)
        default:
            return value
        }
    }

    private mutating func checked(_ records: [[String: FieldValue]], by field: FieldDeclaration, name: String) -> FieldValue? {
        guard records.count <= Self.maximumRecords else {
            rejected.append("too_long:\(name)")
            return nil
        }
        var kept: [[String: FieldValue]] = []
        for record in records {
            let values = ordered(record, by: field.members, path: name + ".")
            var members: [String: FieldValue] = [:]
            for (member, value) in zip(field.members, values) { members[member.name] = value }
            if !members.isEmpty { kept.append(members) }
        }
        return kept.isEmpty ? nil : .records(kept)
    }
}
