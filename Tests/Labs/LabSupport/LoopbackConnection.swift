internal import CLinux
internal import Glibc

/// One connection to a ``LoopbackServer``, seen from the server. Every call blocks its own thread.
public struct LoopbackConnection: Sendable {
    let descriptor: Int32

    /// The next request's line and headers; nil when the client has left. A body is read along by its length and dropped.
    public func readRequest() -> String? {
        var head: [UInt8] = []
        var octet: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard read(descriptor, &octet, 1) == 1 else { return nil }
            head.append(octet)
        }
        let text = String(decoding: head, as: UTF8.self)
        let length = text.lowercased().split(whereSeparator: \.isNewline).first { $0.hasPrefix("content-length:") }
        for _ in 0..<(length.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0) where read(descriptor, &octet, 1) != 1 { return nil }
        return text
    }

    /// The next request's line and headers, and its body by its length; nil when the client has left.
    public func readMessage() -> (head: String, body: [UInt8])? {
        var head: [UInt8] = []
        var octet: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard read(descriptor, &octet, 1) == 1 else { return nil }
            head.append(octet)
        }
        let text = String(decoding: head, as: UTF8.self)
        let line = text.lowercased().split(whereSeparator: \.isNewline).first { $0.hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
        var body = [UInt8](repeating: 0, count: length)
        var count = 0
        while count < length {
            let more = body[count...].withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard more > 0 else { return nil }
            count += more
        }
        return (text, body)
    }

    /// - Returns: false when the client has left.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    public func send(_ octets: [UInt8]) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// A whole response with its length.
    @discardableResult
    public func respond(_ status: String = "200 OK", headers: [String] = [], body: String = "") -> Bool {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        return send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    public func sleep(milliseconds: UInt32) { usleep(milliseconds * 1000) }

    /// Says nothing until the client goes away, or the server is stopped.
    public func hang() {
        var octet: UInt8 = 0
        while read(descriptor, &octet, 1) > 0 {}
    }

    /// Ends the connection with RST instead of FIN.
    public func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
