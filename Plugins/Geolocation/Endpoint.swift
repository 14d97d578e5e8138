internal import Glibc

/// One address at which gpsd may listen, with host and port as numbers: nothing has to be looked up for it any more.
struct Endpoint: Sendable, Hashable {
    let family: Int32
    /// A sockaddr, as getaddrinfo(3) gave it.
    let address: [UInt8]
    let host: String
    let port: String

    enum Lookup: Sendable {
        case found([Endpoint])
        /// With the resolver's text.
        case failed(String)
    }

    /// Looks host and port up.
    ///
    /// - Parameter numericOnly: does not ask a name service, and so does not block.
    static func lookUp(host: String, port: String, numericOnly: Bool) -> Lookup {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = numericOnly ? AI_NUMERICHOST | AI_NUMERICSERV : 0
        var list: UnsafeMutablePointer<addrinfo>?
        let error = getaddrinfo(host, port, &hints, &list)
        guard error == 0 else { return .failed(String(cString: gai_strerror(error))) }
        defer { freeaddrinfo(list) }
        var endpoints: [Endpoint] = []
        var next = list
        while let info = next?.pointee {
            next = info.ai_next
            if let endpoint = Endpoint(info), !endpoints.contains(endpoint) { endpoints.append(endpoint) }
        }
        return endpoints.isEmpty ? .failed("no address") : .found(endpoints)
    }

    /// What needs no name service: a literal address with a port's number, and `localhost`, which is this machine whatever a name
    /// service says (RFC 6761). Nil for anything else.
    static func literal(host: String, port: String) -> [Endpoint]? {
        let hosts = host.lowercased() == "localhost" ? ["127.0.0.1", "::1"] : [host]
        var endpoints: [Endpoint] = []
        for host in hosts {
            guard case .found(let found) = lookUp(host: host, port: port, numericOnly: true) else { return nil }
            endpoints += found
        }
        return endpoints
    }

    private init?(_ info: addrinfo) {
        guard let pointer = info.ai_addr, info.ai_family == AF_INET || info.ai_family == AF_INET6 else { return nil }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let error = getnameinfo(
            pointer, info.ai_addrlen, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        guard error == 0 else { return nil }
        family = info.ai_family
        address = Array(UnsafeRawBufferPointer(start: pointer, count: Int(info.ai_addrlen)))
        self.host = host.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        self.port = port.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
