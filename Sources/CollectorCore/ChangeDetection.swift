internal import MeasurementModel

extension FieldDeclaration {
    /// Whether the field's value differs, by its rule, from the last recorded one. A position is compared as a whole: ``ChangeRule/moved``
    /// looks up its longitude. Records are compared member by member, each by its own rule.
    func isChange(
        from old: FieldValue?, to new: FieldValue?, longitude: (_ name: String) -> (old: Double?, new: Double?)
    ) -> Bool {
        if case .never = changes { return false }
        guard let old, let new else { return (old == nil) != (new == nil) }
        switch changes {
        case .any:
            if case .records(let before) = old, case .records(let after) = new { return isChange(from: before, to: after) }
            return old != new
        case .by(let amount):
            guard let before = old.double, let after = new.double else { return old != new }
            return abs(after - before) >= amount
        case .never:
            return false
        case .moved(let metres, let name, let distance):
            let other = longitude(name)
            guard let latitude = old.double, let newLatitude = new.double, let before = other.old, let after = other.new else {
                return old != new
            }
            return distance((latitude, before), (newLatitude, after)) >= metres
        }
    }

    private func isChange(from old: [[String: FieldValue]], to new: [[String: FieldValue]]) -> Bool {
        guard old.count == new.count else { return true }
        return zip(old, new).contains { before, after in
            members.contains { $0.isChange(from: before[$0.name], to: after[$0.name]) { (before[$0]?.double, after[$0]?.double) } }
        }
    }
}
