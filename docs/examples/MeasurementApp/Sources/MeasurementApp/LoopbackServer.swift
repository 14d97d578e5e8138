import Dispatch
import FieldProbe
import Glibc

/// What the example measures against, so that it runs anywhere: a TCP server on 127.0.0.1 that reads each connection to its end and then
/// answers with the number of octets it received, in eight octets of this machine's order.
final class LoopbackServer: Sendable {
    /// Chosen by the kernel.
    let port: UInt16
    private let listener: Int32
    private let queue = DispatchQueue(label: "loopback-server")

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "socket") }
        var address = sockaddr_in(loopbackPort: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withSocketAddress(&address, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 16) == 0,
            withSocketAddress(&address, { pointer, _ in getsockname(descriptor, pointer, &length) }) == 0
        else {
            let error = SystemError(errno: errno, call: "bind")
            close(descriptor)
            throw error
        }
        listener = descriptor
        port = UInt16(bigEndian: address.sin_port)
        queue.async { @Sendable in Self.serve(descriptor) }
    }

    /// Takes no more connections, and returns when the last one has ended.
    func stop() {
        // It wakes the accept(2) in the other thread, which close(2) would not.
        shutdown(listener, Int32(SHUT_RDWR))
        queue.sync {}
        close(listener)
    }

    /// One connection after the other.
    private static func serve(_ listener: Int32) {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let connection = accept(listener, nil, nil)
            if connection < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            defer { close(connection) }
            var received: UInt64 = 0
            while true {
                let count = recv(connection, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                received += UInt64(count)
            }
            _ = send(connection, &received, 8, Int32(MSG_NOSIGNAL))
        }
    }
}
