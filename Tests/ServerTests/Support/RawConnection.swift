import CLinux
import Glibc
import LabSupport
import MeasurementModel

/// A TCP connection that sends what it is told, octet for octet: also what no decent client would.
final class RawConnection: Sendable {
    let descriptor: Int32

    init(port: UInt16, from source: UInt32 = 0x7F00_0001) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "socket") }
        // Nothing in these tests takes so long, unless it hangs.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        func address(_ host: UInt32, _ port: UInt16, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = host.bigEndian
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            }
        }
        guard address(source, 0, { bind(descriptor, $0, $1) }) == 0, address(0x7F00_0001, port, { connect(descriptor, $0, $1) }) == 0
        else {
            let error = errno
            close(descriptor)
            throw SystemError(errno: error, call: "connect")
        }
    }

    deinit { close(descriptor) }

    /// False when the other side has gone.
    @discardableResult
    func send(_ octets: [UInt8]) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything until the other side ends.
    func readAll() -> [UInt8] {
        var result: [UInt8] = []
        while let more = readSome() { result += more }
        return result
    }

    private func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// One answer; nil when the connection ends before it is complete.
    func response() -> Response? {
        var octets: [UInt8] = []
        while true {
            if let response = Response(octets) { return response }
            guard let more = readSome() else { return nil }
            octets += more
        }
    }
}

/// An answer of the server.
struct Response: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    /// Nil while it is not complete.
    init?(_ octets: [UInt8]) {
        let end: [UInt8] = [13, 10, 13, 10]
        guard let headEnd = octets.indices.first(where: { octets[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: octets[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        headers = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), String(line[line.index(after: colon)...]).trimmed)
        }
        let rest = octets[(headEnd + 4)...]
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        guard rest.count >= length else { return nil }
        self.status = status
        body = Array(rest.prefix(length))
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { try? JSONValue(parsing: body) }
    var code: String? { json?["code"]?.string }
}
