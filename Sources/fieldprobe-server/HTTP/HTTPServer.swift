internal import CLinux
internal import CMicroHTTPD
internal import Glibc
internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// The listener: libmicrohttpd reads and writes on threads of its own and never waits for work; the work is done by lanes of threads, while
/// its connection is suspended.
final class HTTPServer: Sendable {
    let router: Router
    let settings: HTTPSettings
    let log: Logger
    let connections: ConnectionTable
    let bodies: MemoryBudget
    let lanes: [Route.Lane: WorkerLane]
    private let active = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    private let daemon = Mutex<DaemonHandle?>(nil)

    init(router: Router, settings: HTTPSettings, log: Logger) {
        self.router = router
        self.settings = settings
        self.log = log
        connections = ConnectionTable(patience: settings.patience)
        bodies = MemoryBudget(octets: settings.bodyMemory)
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        lanes = [
            .storage: WorkerLane(name: "storage", threads: 4, capacity: 1024),
            // More would only make each slower, and take its 16 or 64 MiB.
            .hashing: WorkerLane(name: "hashing", threads: min(4, processors), capacity: 256),
        ]
    }

    /// - Parameter listener: a bound and listening socket; it is closed by ``stop()``.
    func start(listener: Int32) throws {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let started = settings.tls.withOptionalCStrings { key, certificate -> OpaquePointer? in
            var options = cmicrohttpd_settings(
                listener: listener, threads: UInt32(settings.ioThreads), connections: UInt32(settings.connections),
                connections_per_address: UInt32(settings.connectionsPerAddress),
                idle_seconds: UInt32(max(1, settings.patience.components.seconds)), memory_per_connection: 32 * 1024, tls_key: key,
                tls_certificate: certificate, handler: HTTPCallbacks.handler, began: HTTPCallbacks.began,
                completed: HTTPCallbacks.completed, connection_changed: HTTPCallbacks.connectionChanged,
                unescape: HTTPCallbacks.unescape, context: context)
            return cmicrohttpd_start(&options)
        }
        guard let started else {
            let hint =
                settings.tls == nil
                ? "are there enough file descriptors (ulimit -n) for \(settings.connections) connections?"
                : "do the certificate and the key belong together, both in PEM form, the key without a password?"
            throw CommandFailure(.failure, "the HTTP server could not be started: \(hint)")
        }
        let handle = DaemonHandle(pointer: started)
        daemon.withLock { $0 = handle }
    }

    func exchangeBegan() { active.add(1, ordering: .relaxed) }
    func exchangeEnded() { active.subtract(1, ordering: .relaxed) }
    var closesConnections: Bool { isStopping.load(ordering: .relaxed) }

    /// Ends what takes too long. Called once a second.
    func endOverdue() {
        let count = connections.endOverdue()
        if count > 0 { log.info("slow connections ended", ("count", String(count))) }
    }

    /// Accepts nothing new, answers what it has, and ends.
    func stop(within patience: Duration) {
        guard let handle = daemon.withLock({ $0.take() })?.pointer else { return }
        isStopping.store(true, ordering: .relaxed)
        let listener = MHD_quiesce_daemon(handle)
        let end = MonotonicInstant.now() + patience
        while active.load(ordering: .relaxed) > 0, MonotonicInstant.now() < end { usleep(5000) }
        // Every suspended connection is resumed by its job: the library may not be stopped before.
        for lane in lanes.values { lane.end() }
        MHD_stop_daemon(handle)
        if listener >= 0 { close(listener) }
    }
}

/// What the listener is allowed to use.
struct HTTPSettings: Sendable {
    var ioThreads = 2
    var connections = 4096
    var connectionsPerAddress = 1024
    /// How long a head, a body's next thousand octets and an idle connection may take.
    var patience: Duration = .seconds(30)
    var bodyMemory = 256 << 20
    var tls: TLSFiles?
    /// A proxy that speaks TLS to everybody else: whom it names is who asks.
    var proxy: IPAddress?

    /// Whether browsers come by HTTPS.
    var isSecure: Bool { tls != nil || proxy != nil }
}

/// A certificate chain and its key, in PEM form.
struct TLSFiles: Sendable {
    let key: String
    let certificate: String
}

extension TLSFiles? {
    fileprivate func withOptionalCStrings<Value>(_ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Value) -> Value {
        guard let self else { return body(nil, nil) }
        return self.key.withCString { key in self.certificate.withCString { body(key, $0) } }
    }
}

/// The HTTP library's daemon: its calls may come from any thread.
private struct DaemonHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}
