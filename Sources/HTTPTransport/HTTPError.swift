/// A request that got no complete response. A response with a status of 400 or more is a response, not an error.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for programs to compare. There may be more codes in a later version.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case invalidURL = "invalid_url"
            case nameNotResolved = "name_not_resolved"
            case connectionRefused = "connection_refused"
            case unreachable
            case timedOut = "timed_out"
            case untrustedCertificate = "untrusted_certificate"
            case tlsFailed = "tls_failed"
            case unreadableCAFile = "unreadable_ca_file"
            case connectionLost = "connection_lost"
            case truncated
            case bodyTooLarge = "body_too_large"
            case tooManyRedirects = "too_many_redirects"
            case protocolViolation = "protocol_violation"
            case proxyFailed = "proxy_failed"
            case noResources = "no_resources"
            case closed
            case other
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// Not an `http` or `https` address.
        public static let invalidURL = Code(.invalidURL)
        /// The name has no address, or none of the wanted family, or no resolver answered.
        public static let nameNotResolved = Code(.nameNotResolved)
        public static let connectionRefused = Code(.connectionRefused)
        /// No route, or a router said no.
        public static let unreachable = Code(.unreachable)
        /// The message says which limit, ``HTTPError/phase`` where it was met.
        public static let timedOut = Code(.timedOut)
        public static let untrustedCertificate = Code(.untrustedCertificate)
        public static let tlsFailed = Code(.tlsFailed)
        public static let unreadableCAFile = Code(.unreadableCAFile)
        /// The connection ended before a response did.
        public static let connectionLost = Code(.connectionLost)
        /// The body ended before the length that the server had told.
        public static let truncated = Code(.truncated)
        /// The body is longer than ``HTTPRequest/maximumBody``; what was left of it was not read.
        public static let bodyTooLarge = Code(.bodyTooLarge)
        public static let tooManyRedirects = Code(.tooManyRedirects)
        /// The server does not speak HTTP, or not correctly.
        public static let protocolViolation = Code(.protocolViolation)
        public static let proxyFailed = Code(.proxyFailed)
        /// This machine lacks memory, descriptors or threads.
        public static let noResources = Code(.noResources)
        /// The client was closed.
        public static let closed = Code(.closed)
        public static let other = Code(.other)

        /// The word for reports.
        public var description: String { value.rawValue }
    }

    public let code: Code
    /// What happened, and what to do.
    public let message: String
    /// What libcurl and the kernel said.
    public let cause: String?
    /// The same request may do better later.
    public let isRetryable: Bool
    /// Where it ended; nil when nothing had begun.
    public let phase: HTTPPhase?
    /// The exchanges so far, with the failed one as the last: what was measured until then is worth keeping.
    public let hops: [HTTPHop]

    init(
        _ code: Code, _ message: String, cause: String? = nil, isRetryable: Bool = false, phase: HTTPPhase? = nil, hops: [HTTPHop] = []
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.isRetryable = isRetryable
        self.phase = phase
        self.hops = hops
    }

    public var description: String { cause.map { "\(message) (\($0))" } ?? message }

    func with(phase: HTTPPhase?, hops: [HTTPHop]) -> HTTPError {
        HTTPError(code, message, cause: cause, isRetryable: isRetryable, phase: self.phase ?? phase, hops: hops)
    }

    static let closed = HTTPError(.closed, "the HTTP client was closed: make a new one")
}
