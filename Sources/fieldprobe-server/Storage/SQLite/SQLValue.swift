internal import CSQLite
internal import MeasurementModel

/// A value that goes into a statement.
enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case octets([UInt8])

    static func time(_ time: Timestamp?) -> SQLValue { time.map { .integer($0.milliseconds) } ?? .null }
    static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
    static func optional(_ number: Int?) -> SQLValue { number.map { .integer(Int64($0)) } ?? .null }

    fileprivate func bindText(_ text: String, _ statement: OpaquePointer, _ index: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { octets in
            guard let base = octets.baseAddress else { return csqlite_bind_text(statement, index, "", 0) }
            return base.withMemoryRebound(to: CChar.self, capacity: octets.count) {
                csqlite_bind_text(statement, index, $0, Int32(octets.count))
            }
        }
    }

    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): sqlite3_bind_int64(statement, index, value)
        case .text(let text): bindText(text, statement, index)
        case .octets(let octets):
            octets.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : octets.withUnsafeBytes { csqlite_bind_blob(statement, index, $0.baseAddress, UInt64($0.count)) }
        }
    }
}

/// The row that a statement stands on: valid only inside the closure that it is handed to.
struct SQLRow {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
    func optionalInteger(_ column: Int32) -> Int? { isNull(column) ? nil : integer(column) }
    func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: sqlite3_column_int64(statement, column)) }
    func optionalTime(_ column: Int32) -> Timestamp? { isNull(column) ? nil : time(column) }
    func text(_ column: Int32) -> String { optionalText(column) ?? "" }

    func optionalText(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func octets(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// A list of texts, kept as JSON.
    func texts(_ column: Int32) -> [String] {
        guard let text = optionalText(column), let value = try? JSONValue(parsing: text) else { return [] }
        return value.array?.compactMap(\.string) ?? []
    }
}
