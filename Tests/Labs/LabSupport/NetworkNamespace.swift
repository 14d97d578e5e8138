internal import CLinux
internal import Glibc
internal import MeasurementModel

/// A network namespace of a test's own, on a thread of its own: nothing that happens in it touches the machine's network.
///
/// Sockets, threads and child processes that are made on the thread belong to the namespace.
public final class NetworkNamespace {
    /// Runs a test's body in a new namespace, and gives what it returns.
    ///
    /// - Throws: what the body throws; ``LabError`` where no namespace can be made, which needs root or a user namespace.
    public static func run<Result: Sendable>(_ body: @escaping @Sendable (NetworkNamespace) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            LabThread.start {
                let status = clinux_unshare(clinux_CLONE_NEWNET)
                guard status == 0 else {
                    continuation.resume(
                        throwing: LabError("no network namespace: \(SystemError.text(-status)). Run the tests with `make test`."))
                    return
                }
                continuation.resume(with: Swift.Result { try body(NetworkNamespace()) })
            }
        }
    }

    private init() throws { try ip("link set lo up") }

    /// Runs `ip` with words that are separated by spaces.
    @discardableResult
    public func ip(_ words: String) throws -> String { try ChildProcess.run(["ip"] + words.split(separator: " ").map(String.init)) }

    /// Runs many `ip` commands in one process.
    public func batch(_ lines: [String]) throws {
        let path = "/tmp/fieldprobe-batch-\(getpid())-\(clinux_gettid())"
        let descriptor = clinux_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw LabError("cannot write \(path)") }
        defer { unlink(path) }
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        var offset = 0
        while offset < text.count {
            let count = text[offset...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw LabError("cannot write \(path)") }
            offset += count
        }
        close(descriptor)
        try ChildProcess.run("ip", "-force", "-batch", path)
    }

    /// A veth pair that is up at both ends, which gives both carrier.
    public func veth(_ name: String, peer: String) throws {
        try ip("link add \(name) type veth peer name \(peer)")
        try ip("link set \(name) up")
        try ip("link set \(peer) up")
    }

    /// What a child has to open to move links to this namespace.
    public static func path(of process: ChildProcess) -> String { "/proc/\(process.pid)/ns/net" }

    /// A program that holds another namespace until it is ended.
    public func other() throws -> ChildProcess {
        let holder = try ChildProcess(["unshare", "--net", "sh", "-c", "echo; exec sleep 3600"])
        _ = holder.readAvailable()
        return holder
    }

    /// A tap device that is held open, which gives it carrier.
    public func tap(_ name: String) throws -> ChildProcess {
        let script = """
            import fcntl, os, struct, sys, time
            device = os.open('/dev/net/tun', os.O_RDWR)
            fcntl.ioctl(device, 0x400454ca, struct.pack('16sH', b'\(name)', 0x1002))
            print(flush=True)
            time.sleep(3600)
            """
        let holder = try ChildProcess(["/usr/bin/python3", "-c", script])
        guard !holder.readAvailable().isEmpty else { throw LabError("no tap device \(name): is /dev/net/tun there?") }
        try ip("link set \(name) up")
        return holder
    }

    /// Waits on the calling thread for something asynchronous, and runs it on this very thread: what it starts is in the namespace.
    public func wait<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
        CallingThread().run(body)
    }
}
