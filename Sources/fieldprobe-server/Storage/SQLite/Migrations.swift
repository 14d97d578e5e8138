/// The steps from an empty database to the present one. A step that was released never changes: a new one follows it.
enum Migrations {
    /// The number of steps that a database has behind it is its `user_version`.
    static func apply(to database: Database) throws {
        func version() throws -> Int { try database.row("PRAGMA user_version") { $0.integer(0) } ?? 0 }
        let found = try version()
        guard found <= steps.count else {
            throw CommandFailure(
                .data, "the database is of a newer fieldprobe-server (schema \(found), this one knows \(steps.count)): install that one")
        }
        guard found < steps.count else { return }
        try database.transaction {
            // Another process may have done it while this one waited for the lock.
            for (index, step) in steps.enumerated().dropFirst(try version()) {
                try database.execute(step)
                try database.execute("PRAGMA user_version = \(index + 1)")
            }
        }
    }

    static let steps = [
        """
        CREATE TABLE capabilities (
            name TEXT PRIMARY KEY,
            allow_types TEXT NOT NULL, allow_subjects TEXT NOT NULL, forbid_types TEXT NOT NULL, forbid_subjects TEXT NOT NULL
        ) STRICT;
        CREATE TABLE keys (
            id TEXT PRIMARY KEY,
            hash BLOB NOT NULL,
            note TEXT,
            devices INTEGER,
            usage_days INTEGER,
            valid_from INTEGER, valid_until INTEGER,
            capability TEXT REFERENCES capabilities (name),
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) STRICT;
        CREATE TABLE clients (
            uuid TEXT PRIMARY KEY,
            key_id TEXT NOT NULL REFERENCES keys (id),
            label TEXT,
            tags TEXT NOT NULL,
            machine TEXT NOT NULL,
            secret TEXT NOT NULL,
            registered_at INTEGER NOT NULL,
            usage_until INTEGER,
            elapsed_at INTEGER,
            disabled_at INTEGER, disabled_reason TEXT,
            last_seen_at INTEGER
        ) STRICT;
        -- A client whose usage window is over never comes back: its label is free again.
        CREATE UNIQUE INDEX clients_label ON clients (label) WHERE label IS NOT NULL AND elapsed_at IS NULL;
        -- Who holds a slot.
        CREATE INDEX clients_holding ON clients (key_id) WHERE elapsed_at IS NULL AND disabled_at IS NULL;
        CREATE INDEX clients_ending ON clients (usage_until) WHERE usage_until IS NOT NULL AND elapsed_at IS NULL;
        CREATE INDEX clients_registered ON clients (registered_at);
        CREATE TABLE registrations (
            key_id TEXT NOT NULL,
            nonce BLOB NOT NULL,
            client_uuid TEXT NOT NULL REFERENCES clients (uuid) ON DELETE CASCADE,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (key_id, nonce)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX registrations_client ON registrations (client_uuid);
        CREATE INDEX registrations_age ON registrations (created_at);
        CREATE TABLE measurements (
            id TEXT PRIMARY KEY,
            client_uuid TEXT NOT NULL,
            type TEXT NOT NULL, subject TEXT NOT NULL,
            started_at INTEGER, duration_ms INTEGER, finished_reason TEXT,
            received_at INTEGER NOT NULL,
            size INTEGER NOT NULL,
            is_gzip INTEGER NOT NULL,
            document BLOB NOT NULL
        ) STRICT;
        CREATE INDEX measurements_received ON measurements (received_at);
        CREATE INDEX measurements_client ON measurements (client_uuid, received_at);
        CREATE TABLE users (name TEXT PRIMARY KEY, password TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
        CREATE TABLE sessions (
            id BLOB PRIMARY KEY,
            user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
            expires_at INTEGER NOT NULL
        ) STRICT;
        """
    ]
}
