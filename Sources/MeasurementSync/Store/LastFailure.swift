internal import CLinux
internal import Glibc
public import MeasurementModel

/// Why the last try to send failed. It goes when a report has been sent.
public struct LastFailure: Sendable, Hashable {
    public let id: String
    public let code: String
    public let message: String
    /// On the device's clock.
    public let at: Timestamp

    public var json: JSONValue {
        .object(["id": .string(id), "code": .string(code), "message": .string(message), "at": .string(at.description)])
    }

    /// A note for people: it may be lost in a power cut, and on a full disk it is not written.
    static func note(_ id: String, _ failure: UploadFailure, in folder: StateFolder) {
        let descriptor = clinux_open(folder.lastFailure, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let octets = LastFailure(id: id, code: failure.code, message: failure.message, at: .now()).json.utf8()
        octets.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
    }

    static func forget(in folder: StateFolder) { unlink(folder.lastFailure) }

    static func read(in folder: StateFolder) -> LastFailure? {
        let descriptor = clinux_open(folder.lastFailure, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0, let note = try? JSONValue(parsing: buffer[..<count]), let id = note["id"]?.string,
            let code = note["code"]?.string, let message = note["message"]?.string,
            let at = note["at"]?.string.flatMap(Timestamp.init(iso8601:))
        else { return nil }
        return LastFailure(id: id, code: code, message: message, at: at)
    }
}
