internal import MeasurementModel

extension SQLiteStore {
    /// A user who is there already gets the new password, and has to log in again everywhere.
    func create(user: String, password: String, now: Timestamp) throws {
        try write { database in
            try database.run("DELETE FROM sessions WHERE user = ?", .text(user))
            try database.run(
                "INSERT INTO users VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET password = excluded.password", .text(user),
                .text(password), .time(now))
        }
    }

    func password(ofUser name: String) throws -> String? {
        try read { try $0.row("SELECT password FROM users WHERE name = ?", .text(name)) { $0.text(0) } }
    }

    func createSession(_ id: [UInt8], user: String, expiresAt: Timestamp, now: Timestamp) throws {
        try write { database in
            try database.run("INSERT INTO sessions VALUES (?, ?, ?)", .octets(id), .text(user), .time(expiresAt))
            try database.run("DELETE FROM sessions WHERE expires_at <= ?", .time(now))
        }
    }

    func sessionUser(_ id: [UInt8], now: Timestamp) throws -> String? {
        try read {
            try $0.row("SELECT user FROM sessions WHERE id = ? AND expires_at > ?", .octets(id), .time(now)) { $0.text(0) }
        }
    }

    func endSession(_ id: [UInt8]) throws {
        _ = try write { try $0.run("DELETE FROM sessions WHERE id = ?", .octets(id)) }
    }
}
