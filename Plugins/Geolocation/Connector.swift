internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// Makes connections to gpsd in a way that a test's end interrupts at any point: libgps itself resolves and connects blocking and without
/// a time-out, minutes for a host that does not answer.
struct Connector: Sendable {
    let host: String
    let port: String
    let timeout: Duration

    enum Outcome {
        case connected(GPSDConnection)
        /// Why, for people.
        case failed(String)
        case cancelled
    }

    private enum Step<Value> {
        case done(Value)
        case failed(String)
        case cancelled
    }

    func connect<Trace: TraceWriter>(_ waiter: inout Waiter<Trace>) -> Outcome {
        let endpoints: [Endpoint]
        switch resolve(&waiter) {
        case .done(let found): endpoints = found
        case .failed(let reason): return .failed("\(host): \(reason)")
        case .cancelled: return .cancelled
        }
        var reason = "no address"
        for endpoint in endpoints {
            switch attempt(endpoint, &waiter) {
            case .done(let connection): return .connected(connection)
            case .failed(let why): reason = "\(endpoint.host) port \(endpoint.port): \(why)"
            case .cancelled: return .cancelled
            }
        }
        return .failed(reason)
    }

    /// A name is asked for on a thread of its own, because getaddrinfo(3) may take as long as it likes.
    private func resolve<Trace: TraceWriter>(_ waiter: inout Waiter<Trace>) -> Step<[Endpoint]> {
        if let literal = Endpoint.literal(host: host, port: port) { return .done(literal) }
        let (host, port) = (host, port)
        switch run(&waiter, within: .seconds(60), { Endpoint.lookUp(host: host, port: port, numericOnly: false) }) {
        case .done(.found(let endpoints)): return .done(endpoints)
        case .done(.failed(let reason)), .failed(let reason): return .failed(reason)
        case .cancelled: return .cancelled
        }
    }

    private func attempt<Trace: TraceWriter>(_ endpoint: Endpoint, _ waiter: inout Waiter<Trace>) -> Step<GPSDConnection> {
        switch probe(endpoint, &waiter) {
        case .done: break
        case .failed(let reason): return .failed(reason)
        case .cancelled: return .cancelled
        }
        // gps_open() blocks: the listener's queue may have been filled by the probe, or the path may break right now.
        let opened = run(&waiter, within: timeout) { Result { () throws(GPSDConnection.OpenError) in try GPSDConnection(endpoint) } }
        switch opened {
        case .done(.success(let connection)): return .done(connection)
        case .done(.failure(let error)): return .failed("gps_open() gives \(error.code)")
        case .failed(let reason): return .failed(reason)
        case .cancelled: return .cancelled
        }
    }

    /// Connects without blocking, to see whether somebody answers, and closes again.
    private func probe<Trace: TraceWriter>(_ endpoint: Endpoint, _ waiter: inout Waiter<Trace>) -> Step<Void> {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(endpoint.family, type, 0)
        guard descriptor >= 0 else { return .failed(SystemError.text(errno)) }
        defer { close(descriptor) }
        let result = endpoint.address.withUnsafeBytes {
            Glibc.connect(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        if result == 0 { return .done(()) }
        guard errno == EINPROGRESS else { return .failed(SystemError.text(errno)) }
        switch waiter.wait(writable: [descriptor], until: waiter.session.clock.now() + timeout) {
        case .cancelled: return .cancelled
        case .timeUp: return .failed(SystemError.text(ETIMEDOUT))
        case .ready: break
        }
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
        return error == 0 ? .done(()) : .failed(SystemError.text(error))
    }

    private func run<Trace: TraceWriter, Value: Sendable>(
        _ waiter: inout Waiter<Trace>, within limit: Duration, _ body: @escaping @Sendable () -> Value
    ) -> Step<Value> {
        let call: BlockingCall<Value>
        do { call = try BlockingCall(body) } catch { return .failed("\(error)") }
        switch waiter.wait(readable: [call.descriptor], until: waiter.session.clock.now() + limit) {
        case .cancelled: return .cancelled
        case .timeUp: return .failed(SystemError.text(ETIMEDOUT))
        case .ready: break
        }
        return call.take().map { .done($0) } ?? .failed("no result")
    }
}
