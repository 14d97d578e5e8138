internal import CLinux
internal import CSystemd
internal import Glibc
internal import MeasurementModel

/// The socket that the server listens on: its own, or the one that systemd already listens on for it.
struct Listener: Sendable {
    let descriptor: Int32
    /// `127.0.0.1:8480`, with the port that it really has.
    let address: String
    let isLoopback: Bool

    /// The socket of systemd's socket activation (sd_listen_fds(3)); nil without one.
    static func inherited() throws -> Listener? {
        let count = sd_listen_fds(1)
        guard count > 0 else { return nil }
        guard count == 1 else {
            throw CommandFailure(.usage, "systemd handed over \(count) sockets; the socket unit must have one ListenStream")
        }
        // SD_LISTEN_FDS_START of sd-daemon.h.
        return try Listener(descriptor: 3)
    }

    init(descriptor: Int32) throws {
        self.descriptor = descriptor
        _ = clinux_set_cloexec(descriptor, 1)
        _ = clinux_set_nonblocking(descriptor, 1)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: 32)
        let error = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0
                    ? getnameinfo(
                        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV) : -1
            }
        }
        guard error == 0 else { throw CommandFailure(.failure, "the listening socket has no Internet address") }
        let name = host.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        let number = port.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        address = name.contains(":") ? "[\(name)]:\(number)" : "\(name):\(number)"
        isLoopback = IPAddress(name)?.isLoopback ?? false
    }

    /// - Parameter text: `127.0.0.1:8480`, `[::1]:8480`, `localhost:0`.
    init(listeningOn text: String) throws {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw CommandFailure(.usage, "'--listen' needs ADDRESS:PORT such as 127.0.0.1:8480 or [::]:8480, and '\(text)' is none")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let error = getaddrinfo(host.isEmpty ? nil : host, String(port), &hints, &found)
        guard error == 0, let found else {
            throw CommandFailure(.usage, "'--listen': there is no address '\(host)' (\(String(cString: gai_strerror(error))))")
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(found.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "socket") }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0, listen(descriptor, 1024) == 0 else {
            let reason = SystemError.text(errno)
            close(descriptor)
            throw CommandFailure(.failure, "\(text) cannot be listened on: \(reason)")
        }
        try self.init(descriptor: descriptor)
    }
}
