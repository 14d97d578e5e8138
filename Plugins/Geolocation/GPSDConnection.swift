internal import CGPSD
internal import CLinux
internal import Glibc

/// A connection to gpsd through libgps, and the only place that calls it. It is used by one thread at a time, and closed with its last
/// reference.
final class GPSDConnection: Sendable {
    /// libgps gives up on a longer line itself: gpsd's own have been seen up to 7 kB.
    private static let lineCapacity = 20481

    nonisolated(unsafe) private let handle: UnsafeMutablePointer<cgpsd_connection>
    nonisolated(unsafe) private let line: UnsafeMutablePointer<CChar>
    let descriptor: Int32

    /// Connects, blocking.
    ///
    /// - Throws: ``OpenError``.
    init(_ endpoint: Endpoint) throws(OpenError) {
        var code: Int32 = 0
        guard let handle = cgpsd_open(endpoint.host, endpoint.port, &code) else { throw OpenError(code: code) }
        self.handle = handle
        line = .allocate(capacity: Self.lineCapacity)
        descriptor = cgpsd_descriptor(handle)
        // libgps lets children inherit the socket, and waits minutes for a peer that has gone.
        _ = clinux_set_cloexec(descriptor, 1)
        _ = clinux_set_nonblocking(descriptor, 1)
        keepAlive()
    }

    deinit {
        cgpsd_close(handle)
        line.deallocate()
    }

    struct OpenError: Error {
        /// A code of gps_open(), which is not an errno.
        let code: Int32
    }

    enum Reading {
        case line([UInt8])
        /// A line that holds a NUL: libgps shows its first part only.
        case unreadable
        case nothing
        case ended
    }

    /// The next line, without waiting.
    func read() -> Reading {
        while true {
            let count = cgpsd_read(handle, line, Int32(Self.lineCapacity))
            if count > 0 {
                let length = strnlen(line, Self.lineCapacity)
                // The count includes the end of the line, which libgps has replaced.
                guard length == Int(count) - 1 else { return .unreadable }
                return .line(UnsafeBufferPointer(start: line, count: length).map { UInt8(bitPattern: $0) })
            }
            guard count == 0 else { return .ended }
            // Part of a line. Whether more is there, or nothing ever will be, libgps of gpsd before 3.22 does not tell: it gives 0 for an
            // end within a line, and a loop on it would spin.
            var octet: UInt8 = 0
            switch recv(descriptor, &octet, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) {
            case 0: return .ended
            case 1...: continue
            default: return errno == EAGAIN || errno == EINTR ? .nothing : .ended
            }
        }
    }

    /// Asks for reports in JSON. Not by gps_stream(), whose write(2) to a dead socket ends the process with SIGPIPE, or makes a library
    /// change that for the whole process.
    ///
    /// - Parameter device: of this receiver only.
    /// - Returns: false when the connection has ended.
    func watch(device: String?) -> Bool {
        let request = Array(WatchRequest.text(device: device).utf8)
        let sent = request.withUnsafeBytes {
            send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        // A full send buffer means that gpsd does not read: its silence will tell.
        return sent == request.count || (sent < 0 && (errno == EAGAIN || errno == EINTR))
    }

    /// A host that vanished without a word is noticed within half a minute, also while nothing is sent.
    private func keepAlive() {
        func set(_ level: Int32, _ option: Int32, _ value: Int32) {
            var value = value
            setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15)
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5)
        set(Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 30_000)
    }
}

/// The request for reports (gpsd_json(5), ?WATCH).
enum WatchRequest {
    static func text(device: String?) -> String {
        guard let device else { return "?WATCH={\"enable\":true,\"json\":true};\n" }
        return "?WATCH={\"enable\":true,\"json\":true,\"device\":\"\(escaped(device))\"};\n"
    }

    /// As JSON text, and without the characters that end a request.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\0"..<" ", "\u{7F}": continue
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
