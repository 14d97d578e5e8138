public import MeasurementModel

/// One HTTP request, and how it may be carried out.
public struct HTTPRequest: Sendable {
    /// An `http` or `https` address.
    public var url: String
    public var method: String
    /// Name and value, in the order in which they are sent. `Authorization` and `Cookie` are not sent on to another origin.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]?
    public var timeouts = HTTPTimeouts()
    public var addressFamily = AddressFamily.any
    /// How many redirects are followed; the next one is an error. Zero follows none and gives the redirect itself as the response.
    public var maximumRedirects = 10
    /// Octets of the response's body that are kept. More are counted and thrown away.
    public var keptBody = 1 << 20
    /// More octets of a response's body end the request with ``HTTPError/Code/bodyTooLarge``; nil takes any number.
    public var maximumBody: Int?
    public var proxy = Proxy.environment
    /// Told each address that a connection is tried to, before it is, on the client's own thread: it must not block. Behind a proxy it
    /// is the proxy's address, since that is where the packets go.
    public var onPeer: (@Sendable (_ address: IPAddress, _ port: UInt16) -> Void)?

    /// Which addresses of a name may be used.
    public enum AddressFamily: String, Sendable, CaseIterable {
        /// Both, IPv6 with a head start (RFC 8305).
        case any
        case ipv4, ipv6
    }

    /// Which proxy a request goes through.
    public enum Proxy: Sendable, Hashable {
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say (curl(1), ENVIRONMENT).
        case environment
        case none
        case url(String)
    }

    public init(_ url: String, method: String = "GET", headers: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

/// A part of an exchange, in the order in which they come. The raw value is the word for reports.
public enum HTTPPhase: String, Sendable, CaseIterable {
    case nameLookup = "name_lookup"
    case connect
    case tls
    /// From the request's first octet to the response's.
    case firstByte = "first_byte"
    case body
    /// The request as a whole, redirects included.
    case total
}

/// How long each part of an exchange may take. A redirect begins again with the first part; only ``total`` spans them.
public struct HTTPTimeouts: Sendable, Hashable {
    public var nameLookup: Duration = .seconds(10)
    public var connect: Duration = .seconds(15)
    public var tls: Duration = .seconds(15)
    /// Without any octet received, or sent of a request's body.
    public var firstByte: Duration = .seconds(30)
    /// Between two octets of the body.
    public var stall: Duration = .seconds(30)
    public var total: Duration = .seconds(300)

    public init() {}

    /// The same limit for every part that is longer than it.
    public init(total: Duration) {
        self.init()
        self.total = total
        nameLookup = min(nameLookup, total)
        connect = min(connect, total)
        tls = min(tls, total)
        firstByte = min(firstByte, total)
        stall = min(stall, total)
    }

    func limit(of phase: HTTPPhase) -> Duration {
        switch phase {
        case .nameLookup: nameLookup
        case .connect: connect
        case .tls: tls
        case .firstByte: firstByte
        case .body: stall
        case .total: total
        }
    }
}
