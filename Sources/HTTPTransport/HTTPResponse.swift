/// What a request got in the end.
public struct HTTPResponse: Sendable {
    /// Every exchange, in order. There is always one; more with redirects.
    public let hops: [HTTPHop]
    /// Of the last response; names as they came.
    public let headers: [(name: String, value: String)]
    /// The body's beginning, as far as it was to be kept.
    public let body: [UInt8]
    /// All of the body is in ``body``.
    public let isBodyComplete: Bool
    /// The request as a whole, redirects included.
    public let duration: Duration

    public var last: HTTPHop { hops[hops.count - 1] }
    public var status: Int { last.status ?? 0 }
    public var finalURL: String { last.url }
    public var redirects: Int { hops.count - 1 }

    /// The first value of a header, whose name is compared without case.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
