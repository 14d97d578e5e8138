internal import Glibc

/// Free ports on the loopback interface.
public enum LoopbackPort {
    /// Below the range from which the kernel gives ports to clients: a client that connects to a port of that range, while nobody
    /// listens on it, may meet itself.
    private static let range: ClosedRange<UInt16> = 20000...32000

    /// A port that nobody uses at this moment, by TCP or by UDP.
    public static func pick() throws -> UInt16 {
        for _ in 0..<200 {
            let port = UInt16.random(in: range)
            if [SOCK_STREAM, SOCK_DGRAM].allSatisfy({ isFree(port, type: Int32($0.rawValue)) }) { return port }
        }
        throw LabError("no free port in \(range)")
    }

    private static func isFree(_ port: UInt16, type: Int32) -> Bool {
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return bindLoopback(descriptor, port)
    }

    static func bindLoopback(_ descriptor: Int32, _ port: UInt16) -> Bool {
        withAddress(port) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    static func connectLoopback(_ descriptor: Int32, _ port: UInt16) -> Bool {
        withAddress(port) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    private static func withAddress<Result>(_ port: UInt16, _ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
