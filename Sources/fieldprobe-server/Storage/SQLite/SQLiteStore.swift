internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// Everything in one SQLite file, in WAL mode: readers never wait for a writer, and a commit is on the disk when it returns.
final class SQLiteStore: ServerStore {
    private let path: String
    /// SQLite has one writer at a time: within the process they queue here, fairly, and not by its retries.
    private let writer: Mutex<Database>
    /// Readers that nobody uses at the moment.
    private let readers = Mutex<[Database]>([])

    init(path: String) throws {
        self.path = path
        // SQLite makes its files with the mode that the umask leaves, and the WAL beside it with the mode of the database.
        let previous = umask(0o077)
        defer { umask(previous) }
        let database = try Database(path: path)
        try Migrations.apply(to: database)
        writer = Mutex(database)
    }

    /// One transaction that writes.
    func write<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        try writer.withLock { database in try database.transaction { try body(database) } }
    }

    /// One transaction that reads.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let reader = try readers.withLock { $0.popLast() } ?? Database(path: path, readOnly: true)
        defer { readers.withLock { $0.append(reader) } }
        try reader.execute("BEGIN")
        defer { try? reader.execute("COMMIT") }
        return try body(reader)
    }

    func sweep(now: Timestamp) throws {
        try write { database in
            try Self.endUsageWindows(database, now)
            // A device that has authenticated has its answer: an hour later nobody needs to repeat the request.
            try database.run(
                """
                DELETE FROM registrations WHERE created_at < ? AND client_uuid IN
                (SELECT uuid FROM clients WHERE last_seen_at IS NOT NULL)
                """, .time(now.adding(milliseconds: -3_600_000)))
            try database.run("DELETE FROM sessions WHERE expires_at <= ?", .time(now))
        }
    }

    /// A window that was seen to be over stays so, whatever the clock does afterwards: its slot may belong to somebody else by then.
    static func endUsageWindows(_ database: Database, _ now: Timestamp) throws {
        try database.run("UPDATE clients SET elapsed_at = ?1 WHERE usage_until <= ?1 AND elapsed_at IS NULL", .time(now))
    }
}
