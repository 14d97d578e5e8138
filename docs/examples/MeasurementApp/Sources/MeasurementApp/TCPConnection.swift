import FieldProbe
import Glibc

/// The client's end of a connection to a ``LoopbackServer``. No call blocks for more than five seconds.
final class TCPConnection {
    private let descriptor: Int32

    /// Connects, and has connected when it returns.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "socket") }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in(loopbackPort: port)
        guard withSocketAddress(&address, { connect(descriptor, $0, $1) }) == 0 else {
            let error = SystemError(errno: errno, call: "connect")
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    func send(_ octets: [UInt8]) throws {
        var sent = 0
        while sent < octets.count {
            // Without the flag a connection that the server has closed would end this process with SIGPIPE (send(2)).
            let count = octets.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(errno: errno, call: "send") }
            sent += count
        }
    }

    /// Says that nothing more comes, and gives the number of octets that the server says it received.
    func finish() throws -> Int {
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { throw SystemError(errno: errno, call: "shutdown") }
        var answer: UInt64 = 0
        let count = recv(descriptor, &answer, 8, Int32(MSG_WAITALL))
        guard count >= 0 else { throw SystemError(errno: errno, call: "recv") }
        guard count == 8 else { throw SystemError(errno: ECONNRESET, call: "recv") }
        return Int(answer)
    }
}

extension sockaddr_in {
    /// 127.0.0.1.
    init(loopbackPort port: UInt16) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = port.bigEndian
        sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    }
}

/// Lends an address to a call that wants a `sockaddr`.
func withSocketAddress<Value>(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}
