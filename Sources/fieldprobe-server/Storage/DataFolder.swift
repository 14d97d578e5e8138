internal import CLinux
internal import Glibc
internal import MeasurementModel

/// The one folder with everything that the server keeps.
struct DataFolder: Sendable {
    let path: String

    static let defaultPath = "/var/lib/fieldprobe-server"

    var database: String { "\(path)/fieldprobe.sqlite3" }

    /// Makes the folder when it is not there, closed to others.
    init(_ path: String) throws {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw CommandFailure(
                .data, "the data folder \(path) cannot be made: \(SystemError.text(errno)); --data names another one")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            throw CommandFailure(
                .data, "the data folder \(path) cannot be used: \(SystemError.text(errno)); run as its owner, or name another one by --data"
            )
        }
    }

    /// The secrets, made under a lock: two first starts at once must not make two keys.
    func secrets() throws -> ServerSecrets {
        let descriptor = clinux_open("\(path)/lock", O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno: -descriptor, call: "open \(path)/lock") }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX) == 0 else { throw SystemError(errno: errno, call: "lock \(path)/lock") }
        return try ServerSecrets(folder: path)
    }
}
