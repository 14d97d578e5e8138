internal import MeasurementModel

extension FieldValue {
    /// Octets that the value takes in memory, roughly. A dictionary has its own table, which is most of what a small record takes.
    var memory: Int {
        switch self {
        case .bool, .integer, .number: 16
        case .text(let text): 16 + text.utf8.count
        case .records(let records): records.reduce(32) { $0 + 250 + $1.reduce(0) { $0 + 32 + $1.value.memory } }
        }
    }
}
