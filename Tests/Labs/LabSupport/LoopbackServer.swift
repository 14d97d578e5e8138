internal import CLinux
internal import Glibc
public import MeasurementModel
internal import Synchronization

/// A TCP server on loopback whose every move a test writes down: one closure for each connection, on a thread of its own.
public final class LoopbackServer: Sendable {
    public let port: UInt16
    public let family: IPAddress.Family
    private let listener: Int32
    private let stopping: Int32
    private let script: @Sendable (LoopbackConnection) -> Void
    private let state = Mutex(State())

    private struct State {
        var isStopped = false
        var threads: [pthread_t] = []
        var open: Set<Int32> = []
        var accepted = 0
    }

    public convenience init(
        _ family: IPAddress.Family = .ipv4, port: UInt16 = 0, script: @escaping @Sendable (LoopbackConnection) -> Void
    ) throws {
        try self.init(family, port: port, listens: true, script: script)
    }

    private init(
        _ family: IPAddress.Family, port wanted: UInt16 = 0, listens: Bool, script: @escaping @Sendable (LoopbackConnection) -> Void
    ) throws {
        self.family = family
        self.script = script
        listener = socket(Int32(family.number), Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw SystemError(errno: errno, call: "socket") }
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        port = try Self.bind(listener, family, wanted)
        stopping = clinux_eventfd()
        guard listens else { return }
        guard listen(listener, 1024) == 0 else { throw SystemError(errno: errno, call: "listen") }
        try spawn { [self] in acceptAll() }
    }

    deinit {
        stop()
        close(stopping)
    }

    /// A port on which connections are refused, and that nobody else gets while this object lives: it is bound, and nobody listens.
    public static func refusing(_ family: IPAddress.Family = .ipv4) throws -> LoopbackServer {
        try LoopbackServer(family, listens: false) { _ in }
    }

    public var url: String { "http://\(family == .ipv4 ? "127.0.0.1" : "[::1]"):\(port)" }
    public var connections: Int { state.withLock { $0.accepted } }

    /// Ends every connection and thread, and listens no more.
    public func stop() {
        let threads: [pthread_t]? = state.withLock { state in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { state.threads = [] }
            return state.threads
        }
        guard let threads else { return }
        var one: UInt64 = 1
        _ = write(stopping, &one, 8)
        for thread in threads { pthread_join(thread, nil) }
        close(listener)
    }

    /// Carries the script out and takes the server down again.
    public static func run<Result>(
        _ family: IPAddress.Family = .ipv4, _ script: @escaping @Sendable (LoopbackConnection) -> Void,
        test: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let server = try LoopbackServer(family, script: script)
        defer { server.stop() }
        return try await test(server)
    }

    private static func bind(_ descriptor: Int32, _ family: IPAddress.Family, _ port: UInt16) throws -> UInt16 {
        switch family {
        case .ipv4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let bound = try Self.bind(descriptor, &name)
            return UInt16(bigEndian: bound.sin_port)
        case .ipv6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &name.sin6_addr) { $0[15] = 1 }
            let bound = try Self.bind(descriptor, &name)
            return UInt16(bigEndian: bound.sin6_port)
        }
    }

    private static func bind<Name>(_ descriptor: Int32, _ name: inout Name) throws -> Name {
        var length = socklen_t(MemoryLayout<Name>.size)
        let error = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard error == 0 else { throw SystemError(errno: errno, call: "bind") }
        return name
    }

    private func acceptAll() {
        while true {
            var events = [
                pollfd(fd: listener, events: Int16(POLLIN), revents: 0), pollfd(fd: stopping, events: Int16(POLLIN), revents: 0),
            ]
            _ = clinux_poll(&events, 2, -1)
            if events[1].revents != 0 { return }
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { continue }
            _ = clinux_set_cloexec(descriptor, 1)
            let goesOn = state.withLock { state in
                if !state.isStopped { state.open.insert(descriptor) }
                state.accepted += 1
                return !state.isStopped
            }
            guard goesOn else {
                close(descriptor)
                return
            }
            try? spawn { [self] in
                script(LoopbackConnection(descriptor: descriptor))
                state.withLock { _ = $0.open.remove(descriptor) }
                close(descriptor)
            }
        }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private func spawn(_ body: @escaping @Sendable () -> Void) throws {
        try state.withLock { state in
            var thread = pthread_t()
            let work = Unmanaged.passRetained(Work(body))
            let error = pthread_create(
                &thread, nil,
                { @Sendable argument in
                    Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
                    return nil
                }, work.toOpaque())
            guard error == 0 else {
                work.release()
                throw SystemError(errno: error, call: "pthread_create")
            }
            state.threads.append(thread)
        }
    }
}
