/// One operation of the server: where it is, what it may receive, and on which threads it runs.
struct Route: Sendable {
    let method: ServerRequest.Method
    /// Segments of the path; `*` is a variable one.
    let path: [String]
    let lane: Lane
    /// Octets of the body, as sent.
    var bodyLimit = 0
    var tooLarge = ProblemCode.requestTooLarge
    /// Looks at the head before a body is taken in: what is refused here costs no memory.
    var admit: @Sendable (ServerRequest) throws -> Void = { _ in }
    let handle: @Sendable (ServerRequest) throws -> ServerResponse

    enum Lane: Sendable, CaseIterable {
        /// Work that waits for the disk.
        case storage
        /// Work that fills a processor and 16 MiB or more by hashing a secret.
        case hashing
    }

    init(
        _ method: ServerRequest.Method, _ path: String, lane: Lane = .storage, bodyLimit: Int = 0,
        tooLarge: ProblemCode = .requestTooLarge, admit: @escaping @Sendable (ServerRequest) throws -> Void = { _ in },
        handle: @escaping @Sendable (ServerRequest) throws -> ServerResponse
    ) {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        self.lane = lane
        self.bodyLimit = bodyLimit
        self.tooLarge = tooLarge
        self.admit = admit
        self.handle = handle
    }

    /// The variable segments, when the path is this route's.
    func match(_ segments: [String]) -> [String]? {
        guard segments.count == path.count else { return nil }
        var parameters: [String] = []
        for (pattern, segment) in zip(path, segments) {
            if pattern == "*" { parameters.append(segment) } else if pattern != segment { return nil }
        }
        return parameters
    }

    /// For the log: the pattern, because a real path may carry identifiers.
    var name: String { "\(method.rawValue) /\(path.joined(separator: "/"))" }
}

struct Router: Sendable {
    let routes: [Route]

    func find(_ method: String, _ target: RequestTarget?) throws -> (route: Route, parameters: [String]) {
        guard let target else { throw Problem(.notFound) }
        let matches = routes.compactMap { route in route.match(target.segments).map { (route, $0) } }
        guard !matches.isEmpty else { throw Problem(.notFound) }
        // HEAD is GET without the body, which the HTTP library leaves out by itself.
        let wanted = method == "HEAD" ? "GET" : method
        guard let match = matches.first(where: { $0.0.method.rawValue == wanted }) else { throw Problem(.methodNotAllowed) }
        return match
    }
}
