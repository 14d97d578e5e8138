internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// A TCP server that speaks as gpsd might at its worst: for faults that a real one does not make on request.
public final class FakeGPSD: Sendable {
    public let port: UInt16

    private struct State {
        var listener: Int32
        var clients: [Client] = []
        var threads: [pthread_t] = []
        var requests = 0
        var connections = 0
        var isStopped = false
    }

    private let state: Mutex<State>
    private let script: @Sendable (Client) -> Void

    /// - Parameter script: what to do with one client, on a thread of its own. The connection is closed when it returns. A client may
    ///   connect only to see whether somebody listens: it sends no request.
    public init(port: UInt16? = nil, _ script: @escaping @Sendable (Client) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        self.port = try port ?? LoopbackPort.pick()
        self.script = script
        guard LoopbackPort.bindLoopback(listener, self.port), listen(listener, 16) == 0 else {
            let error = errno
            close(listener)
            throw SystemError(errno: error, call: "listen on port \(self.port)")
        }
        state = Mutex(State(listener: listener))
        spawn { [self] in accept(from: listener) }
    }

    /// Requests (?WATCH) of all clients so far.
    public var requests: Int { state.withLock { $0.requests } }

    /// Clients that have connected so far.
    public var connections: Int { state.withLock { $0.connections } }

    /// Clients that are connected now.
    public var connected: Int { state.withLock { $0.clients.count } }

    /// Closes every connection and stops to listen.
    public func stop() {
        let threads: [pthread_t] = state.withLock { state in
            guard !state.isStopped else { return [] }
            state.isStopped = true
            shutdown(state.listener, Int32(SHUT_RDWR))
            for client in state.clients { client.hangUp() }
            return state.threads
        }
        for thread in threads { pthread_join(thread, nil) }
        state.withLock { state in
            if !threads.isEmpty { close(state.listener) }
            state.threads = []
        }
    }

    private func accept(from listener: Int32) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0 { return }
            _ = clinux_set_cloexec(descriptor, 1)
            let client = Client(descriptor: descriptor, server: self)
            let isStopped = state.withLock { state in
                state.connections += 1
                if !state.isStopped { state.clients.append(client) }
                return state.isStopped
            }
            guard !isStopped else {
                client.close()
                return
            }
            spawn { [self] in
                script(client)
                state.withLock { state in state.clients.removeAll { $0 === client } }
                client.close()
            }
        }
    }

    private func spawn(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(ThreadBody(body))
        state.withLock { state in
            var thread = pthread_t()
            let error = pthread_create(
                &thread, nil,
                { @Sendable argument in
                    Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
                    return nil
                }, work.toOpaque())
            if error == 0 { state.threads.append(thread) } else { work.release() }
        }
    }

    fileprivate func countRequest() -> Int {
        state.withLock { state in
            state.requests += 1
            return state.requests
        }
    }

    /// One connection, from the server's side.
    public final class Client: Sendable {
        private let descriptor: Int32
        private let server: FakeGPSD

        fileprivate init(descriptor: Int32, server: FakeGPSD) {
            self.descriptor = descriptor
            self.server = server
        }

        /// Waits for a request.
        ///
        /// - Returns: the request and its number among all clients' requests; nil when the client has gone.
        public func request() -> (text: String, number: Int)? {
            var text: [UInt8] = []
            var octet: UInt8 = 0
            while read(descriptor, &octet, 1) == 1 {
                if octet == UInt8(ascii: "\n") { return (String(decoding: text, as: UTF8.self), server.countRequest()) }
                text.append(octet)
            }
            return nil
        }

        /// Sends text.
        ///
        /// - Returns: false when the client has gone or the server stops.
        @discardableResult
        public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        @discardableResult
        public func send(_ octets: [UInt8]) -> Bool {
            var sent = 0
            while sent < octets.count {
                let count = octets[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Waits.
        ///
        /// - Returns: false when the client has gone or the server stops.
        @discardableResult
        public func pause(_ duration: Duration) -> Bool {
            // POLLRDHUP, which Swift's Glibc lacks: the other side, or stop(), has shut the connection down. Nothing is waited for by
            // looking again and again, because dozens of these servers run beside each other.
            var ended = pollfd(fd: descriptor, events: 0x2000, revents: 0)
            return clinux_poll(&ended, 1, duration.nanoseconds) == 0
        }

        /// The connection ends with a reset (RST) instead of an end of file.
        public func reset() {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }

        fileprivate func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }
        fileprivate func close() { Glibc.close(descriptor) }
    }

    /// What gpsd sends to a new client, and what it answers to ?WATCH.
    public static let banner = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n"
    public static func answer(devices: String...) -> String {
        let list = devices.map { #"{"class":"DEVICE","path":"\#($0)","activated":"2026-11-30T00:00:00.000Z"}"# }
        return #"{"class":"DEVICES","devices":[\#(list.joined(separator: ","))]}"# + "\r\n"
            + #"{"class":"WATCH","enable":true,"json":true}"# + "\r\n"
    }
}
