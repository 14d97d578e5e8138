internal import CLinux
internal import CSQLite
internal import Glibc
internal import Synchronization

/// What SQLite refused.
struct DatabaseError: Error, CustomStringConvertible {
    let code: Int32
    let message: String

    var isFull: Bool { code & 0xFF == SQLITE_FULL || code & 0xFF == SQLITE_IOERR }
    var isUniqueViolation: Bool { code == csqlite_constraint_unique }
    var isBusy: Bool { code & 0xFF == SQLITE_BUSY }

    var description: String {
        switch code & 0xFF {
        case SQLITE_FULL: "the database cannot grow: the disk is full (\(message))"
        case SQLITE_BUSY: "the database stayed locked by another process: is a backup or a long export running? (\(message))"
        case SQLITE_CORRUPT, SQLITE_NOTADB: "the database is damaged: restore a backup (\(message))"
        default: "the database failed: \(message) (code \(code))"
        }
    }
}

/// One connection to the database. One thread at a time uses it: its owner sees to that.
final class Database: @unchecked Sendable {
    private let handle: OpaquePointer
    /// Statements are compiled once.
    private var statements: [String: OpaquePointer] = [:]

    init(path: String, readOnly: Bool = false) throws {
        var opened: OpaquePointer?
        let flags = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close(opened)
            throw DatabaseError(code: code, message: "\(path): \(message)")
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        // Longer than any transaction of this program: another process may be writing.
        sqlite3_busy_timeout(handle, 15_000)
        do {
            try execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000")
            if !readOnly { try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL") }
        } catch {
            sqlite3_close_v2(handle)
            throw error
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Several statements without values.
    func execute(_ text: String) throws {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw fault(code) }
    }

    /// Runs one statement to its end.
    @discardableResult
    func run(_ text: String, _ values: SQLValue...) throws -> Int {
        try withStatement(text, values) { statement in
            while true {
                let code = sqlite3_step(statement)
                if code == SQLITE_DONE { break }
                guard code == SQLITE_ROW else { throw fault(code) }
            }
        }
        return Int(sqlite3_changes(handle))
    }

    /// The rows of a query, each made into a value.
    func rows<Value>(_ text: String, _ values: [SQLValue] = [], _ make: (SQLRow) throws -> Value) throws -> [Value] {
        try withStatement(text, values) { statement in
            var result: [Value] = []
            while true {
                let code = sqlite3_step(statement)
                if code == SQLITE_DONE { return result }
                guard code == SQLITE_ROW else { throw fault(code) }
                result.append(try make(SQLRow(statement)))
            }
        }
    }

    func row<Value>(_ text: String, _ values: SQLValue..., make: (SQLRow) throws -> Value) throws -> Value? {
        try rows(text, values, make).first
    }

    /// Everything in it happens, or nothing. IMMEDIATE takes the right to write at once: what it reads is still so when it writes.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // SQLite may have rolled back by itself, as it does on a full disk.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    private func withStatement<Value>(_ text: String, _ values: [SQLValue], _ body: (OpaquePointer) throws -> Value) throws -> Value {
        let statement = try statements[text] ?? prepare(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let code = value.bind(to: statement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw fault(code) }
        }
        return try body(statement)
    }

    private func prepare(_ text: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw fault(code) }
        statements[text] = statement
        return statement
    }

    private func fault(_ code: Int32) -> DatabaseError {
        DatabaseError(
            code: sqlite3_extended_errcode(handle) != 0 ? sqlite3_extended_errcode(handle) : code,
            message: String(cString: sqlite3_errmsg(handle)))
    }
}
