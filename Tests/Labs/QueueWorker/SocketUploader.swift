internal import CLinux
internal import Glibc
internal import LabSupport
internal import MeasurementModel
internal import MeasurementSync
internal import Synchronization

/// The smallest uploader that keeps the contract: HTTP/1.1 over one warm connection, and a reset when it is cancelled.
final class SocketUploader: ReportUploader {
    private let port: UInt16
    private let limit: Duration
    private let connection = Mutex<Int32?>(nil)

    init(port: UInt16, limit: Duration = .seconds(60)) {
        self.port = port
        self.limit = limit
    }

    deinit { connection.withLock { if let descriptor = $0 { close(descriptor) } } }

    func upload(id: String, body: [UInt8]) async -> UploadOutcome {
        let cancelled = clinux_eventfd()
        defer { close(cancelled) }
        return await withTaskCancellationHandler {
            let outcome = try? await offPool { self.exchange(id, body, cancelled) }
            return outcome ?? .retry(after: nil, Self.failure("no thread"))
        } onCancel: {
            var one: UInt64 = 1
            _ = write(cancelled, &one, 8)
        }
    }

    private static func failure(_ text: String) -> UploadFailure {
        UploadFailure(code: "connection", message: text, isServerWide: true)
    }

    private func exchange(_ id: String, _ body: [UInt8], _ cancelled: Int32) -> UploadOutcome {
        let end = MonotonicInstant.now() + limit
        let kept = connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
        var wire = Wire(cancelled: cancelled, end: end)
        // The server may have closed a kept connection meanwhile: that is no failure, and a new one is made.
        for descriptor in [kept, nil] where kept != nil || descriptor == nil {
            guard let descriptor = descriptor ?? wire.connect(port) else { return .retry(after: nil, Self.failure("no connection")) }
            let head = "PUT /client_api/v1/measurements/\(id) HTTP/1.1\r\nHost: loopback\r\nContent-Length: \(body.count)\r\n\r\n"
            if wire.send(Array(head.utf8) + body, to: descriptor), let answer = wire.receive(from: descriptor) {
                if answer.isLast { close(descriptor) } else { connection.withLock { $0 = descriptor } }
                let facts = UploadAnswer(status: answer.status, body: answer.body, retryAfter: answer.retryAfter, date: answer.date)
                return UploadClasses.outcome(of: facts, id: id, now: .now())
            }
            wire.reset(descriptor)
            if wire.isOver { break }
        }
        return .retry(after: nil, Self.failure("the connection was lost"))
    }
}

/// Reading and writing with a deadline, and with an end at any moment.
private struct Wire {
    let cancelled: Int32
    let end: MonotonicInstant
    private(set) var isOver = false

    struct Answer {
        var status: Int
        var body: [UInt8]
        var retryAfter: String?
        var date: String?
        var isLast: Bool
    }

    init(cancelled: Int32, end: MonotonicInstant) {
        self.cancelled = cancelled
        self.end = end
    }

    mutating func connect(_ port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let error = withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard error == 0 else {
            close(descriptor)
            return nil
        }
        _ = clinux_set_nonblocking(descriptor, 1)
        // Every end of this connection is a reset, also the one by a kill: what the kernel has not sent yet is thrown away.
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        return descriptor
    }

    func reset(_ descriptor: Int32) { close(descriptor) }

    private mutating func wait(_ descriptor: Int32, _ event: Int32) -> Bool {
        var events = [pollfd(fd: cancelled, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(event), revents: 0)]
        let ready = clinux_poll(&events, 2, max(0, (end - .now()).nanoseconds))
        isOver = ready <= 0 || events[0].revents != 0
        return !isOver
    }

    mutating func send(_ octets: [UInt8], to descriptor: Int32) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            guard wait(descriptor, POLLOUT) else { return false }
            let count = rest.prefix(16384).withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EAGAIN { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    mutating func receive(from descriptor: Int32) -> Answer? {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let answer = Self.answer(octets) { return answer }
            guard octets.count < 1 << 20, wait(descriptor, POLLIN) else { return nil }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            octets += buffer[..<count]
        }
    }

    private static func answer(_ octets: [UInt8]) -> Answer? {
        let text = String(decoding: octets, as: UTF8.self)
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let lines = parts[0].split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        func header(_ name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
        let length = header("content-length").flatMap { Int($0) } ?? 0
        guard parts[1].utf8.count >= length else { return nil }
        return Answer(
            status: status, body: Array(parts[1].utf8.prefix(length)), retryAfter: header("retry-after"), date: header("date"),
            isLast: header("connection") == "close")
    }
}
