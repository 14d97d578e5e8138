internal import CLinux
internal import Glibc
internal import Synchronization

/// A real gpsd with receivers that a script plays (Tests/Labs/gps/nmea_feeder.py), on loopback ports of its own.
public final class GPSDLab: Sendable {
    /// gpsd's TCP port.
    public let port: UInt16
    /// The receivers' UDP ports.
    private let inputs: [UInt16]

    private struct State {
        var daemon: ChildProcess?
        var feeders: [ChildProcess] = []
    }

    private let state = Mutex(State())

    private init(receivers: Int) throws {
        port = try LoopbackPort.pick()
        inputs = try (0..<receivers).map { _ in try LoopbackPort.pick() }
    }

    /// Runs a gpsd for the time of the body, and ends it and its receivers afterwards.
    public static func run<Result>(receivers: Int = 1, _ body: (GPSDLab) async throws -> Result) async throws -> Result {
        let lab = try GPSDLab(receivers: receivers)
        do {
            try await lab.startDaemon()
            let result = try await body(lab)
            try await offPool { lab.stop() }
            return result
        } catch {
            try await offPool { lab.stop() }
            throw error
        }
    }

    /// A receiver's name in gpsd.
    public func device(_ receiver: Int = 0) -> String { "udp://127.0.0.1:\(inputs[receiver])" }

    /// Plays steps of the feeder to a receiver.
    public func feed(_ steps: String..., receiver: Int = 0, options: [String] = []) throws {
        try feed(steps, input: inputs[receiver], options: options)
    }

    /// The same to a UDP port, for a receiver that is plugged in later.
    public func feed(_ steps: [String], input: UInt16, options: [String] = []) throws {
        let to = "127.0.0.1:\(input)"
        let feeder = try ChildProcess(["/usr/bin/python3", Self.feeder, "--to", to] + options + steps)
        state.withLock { $0.feeders.append(feeder) }
    }

    /// Starts gpsd, or starts it again on the same ports, and waits until it greets.
    public func startDaemon() async throws {
        try await offPool { [self] in try start() }
    }

    private func start() throws {
        let sources = inputs.indices.map { device($0) }
        // Without a receiver gpsd starts only if a control socket could bring one.
        let control = sources.isEmpty ? ["-F", controlSocket] : []
        let program = ["/usr/sbin/gpsd", "-N", "-n", "-b", "-S", "\(port)"] + control + sources
        let daemon = try ChildProcess(program, environment: ["GPSD_SHM_KEY": sharedMemoryKey], merged: true)
        state.withLock { $0.daemon = daemon }
        for _ in 0..<400 {
            if greets() { return }
            usleep(25_000)
        }
        throw LabError("gpsd does not greet on port \(port)")
    }

    /// Sends gpsd a signal; SIGKILL and SIGTERM are waited for.
    public func signalDaemon(_ number: Int32) {
        guard let daemon = state.withLock({ $0.daemon }) else { return }
        daemon.signal(number)
        guard number == SIGKILL || number == SIGTERM else { return }
        daemon.wait()
        state.withLock { $0.daemon = nil }
    }

    /// The receivers fall silent for good.
    public func stopFeeding() {
        let feeders = state.withLock { state in
            defer { state.feeders = [] }
            return state.feeders
        }
        for feeder in feeders { feeder.signal(SIGKILL) }
        for feeder in feeders { feeder.wait() }
    }

    private func stop() {
        stopFeeding()
        signalDaemon(SIGKILL)
        if inputs.isEmpty { unlink(controlSocket) }
        // gpsd never removes its segment.
        _ = try? ChildProcess(["ipcrm", "-M", sharedMemoryKey], merged: true).finish()
    }

    /// One for each gpsd, so that several do not write into the same segment.
    private var sharedMemoryKey: String { "0x4770" + String(port, radix: 16) }

    /// Gives gpsd a receiver, or takes it away, as the device manager does when one is plugged in or out. Only of a gpsd that was started
    /// without receivers.
    public func plug(_ isPlugged: Bool, input: UInt16) async throws {
        try await offPool { [self] in try tell("\(isPlugged ? "+" : "-")udp://127.0.0.1:\(input)\r\n") }
    }

    private func tell(_ text: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: controlSocket.utf8.prefix($0.count - 1)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isConnected = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        let command = Array(text.utf8)
        var answer = [UInt8](repeating: 0, count: 64)
        guard isConnected, write(descriptor, command, command.count) == command.count,
            read(descriptor, &answer, answer.count) >= 2, answer.starts(with: Array("OK".utf8))
        else { throw LabError("gpsd does not take \(text)") }
    }

    private var controlSocket: String { "/tmp/fieldprobe-lab-\(port).sock" }

    private func greets() -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard LoopbackPort.connectLoopback(descriptor, port) else { return false }
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 2000) == 1 else { return false }
        var octets = [UInt8](repeating: 0, count: 64)
        return read(descriptor, &octets, octets.count) > 0
    }

    private static let feeder = "\(#filePath)".split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/gps/nmea_feeder.py"
}
