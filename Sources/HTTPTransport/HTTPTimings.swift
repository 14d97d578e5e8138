/// When the parts of one exchange were over, since its start. A part that did not happen is nil: no name is looked up for a literal
/// address, and nothing is looked up, connected or negotiated on a connection that is used again.
public struct HTTPTimings: Sendable, Hashable {
    /// The name had addresses.
    public var nameLookedUp: Duration?
    /// The TCP connection stood: to the proxy, where there is one.
    public var connected: Duration?
    /// The TLS handshake was done.
    public var secured: Duration?
    /// The request began to be sent.
    public var requested: Duration?
    /// The response's first octet came.
    public var firstByte: Duration?
    /// The exchange was over, well or not.
    public var ended: Duration

    public init(
        nameLookedUp: Duration? = nil, connected: Duration? = nil, secured: Duration? = nil, requested: Duration? = nil,
        firstByte: Duration? = nil, ended: Duration
    ) {
        self.nameLookedUp = nameLookedUp
        self.connected = connected
        self.secured = secured
        self.requested = requested
        self.firstByte = firstByte
        self.ended = ended
    }

    /// How long each part took by itself.
    public var nameLookup: Duration? { nameLookedUp }
    public var connect: Duration? { connected.map { $0 - (nameLookedUp ?? .zero) } }
    public var tls: Duration? {
        guard let secured, let connected else { return nil }
        return secured - connected
    }
    /// From sending the request to the first octet of the answer.
    public var wait: Duration? {
        guard let firstByte, let requested else { return nil }
        return firstByte - requested
    }
    public var transfer: Duration? { firstByte.map { ended - $0 } }
}

/// One exchange of a request with a server: the first, and one more for each redirect.
public struct HTTPHop: Sendable {
    /// Without user and password.
    public var url: String
    /// Nil when no response came.
    public var status: Int?
    public var timings: HTTPTimings
    /// An earlier hop's or request's connection was used again.
    public var reusedConnection: Bool
    public var usedProxy: Bool
    /// As text, because it is only shown: `192.0.2.1` or `2001:db8::1`.
    public var remoteAddress: String?
    public var remotePort: Int?
    public var localAddress: String?
    /// `1.0`, `1.1`, `2`, `3`.
    public var httpVersion: String?
    /// The exchange went over TLS, with the certificate checked.
    public var isSecured: Bool
    public var headerOctets: Int64
    /// Octets of the body as they came.
    public var bodyOctets: Int64
}
