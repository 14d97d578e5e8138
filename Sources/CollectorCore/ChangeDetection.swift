internal import MeasurementModel

extension ChangeRule {
    /// Whether a field's value differs, by its rule, from the last recorded one. A position is compared as a whole: ``ChangeRule/moved``
    /// looks up its longitude.
    func isChange(
        from old: FieldValue?, to new: FieldValue?, longitude: (_ name: String) -> (old: Double?, new: Double?)
    ) -> Bool {
        if case .never = self { return false }
        guard let old, let new else { return (old == nil) != (new == nil) }
        switch self {
        case .any:
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
}
