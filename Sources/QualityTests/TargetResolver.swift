package import CollectorCore
internal import Glibc
internal import MeasurementModel
package import ProbeLog

/// Looks up a target's name beside the test: once, and without the test waiting for it.
package enum TargetResolver {
    /// A literal address needs nothing. The thread ends with the lookup; a resolver that hangs keeps it for as long as resolv.conf(5) says.
    package static func start(_ target: SessionTarget, clock: any MeasurementClock, logger: Logger) {
        let value = target.value
        guard let host = value.host, value.addresses.isEmpty else { return }
        do {
            try OwnThread.start("target") {
                let addresses = lookUp(host)
                if addresses.isEmpty {
                    logger.info("the target's name was not resolved")
                } else {
                    target.resolve(to: addresses, at: clock.now())
                }
            }
        } catch {
            logger.warning("the target's name cannot be resolved", ("error", "\(error)"))
        }
    }

    /// The name's addresses in the order of getaddrinfo(3), each once.
    static func lookUp(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = list
        while let entry = next {
            if let address = address(entry.pointee), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    private static func address(_ entry: addrinfo) -> IPAddress? {
        guard let raw = UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { IPAddress(octets: $0) }
        case AF_INET6:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { IPAddress(octets: $0) }
        default: return nil
        }
    }
}
