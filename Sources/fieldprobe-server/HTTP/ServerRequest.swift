internal import MeasurementModel

/// A complete request, as an endpoint sees it.
struct ServerRequest: Sendable {
    let method: Method
    let target: RequestTarget
    /// What stood at the variable segments of the route's path.
    var parameters: [String] = []
    let headers: Headers
    /// Whom rate limits count: an IPv4 address, or the /64 of an IPv6 address.
    let peer: String
    let isSecure: Bool
    /// As it was sent.
    var body: [UInt8] = []

    enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    /// The few headers that the server looks at. Names in lower case.
    struct Headers: Sendable {
        private var values: [String: [String]] = [:]

        static let wanted = [
            "authorization", "content-encoding", "content-length", "content-type", "cookie", "expect", "origin", "sec-fetch-site", "host",
            "transfer-encoding", "x-forwarded-for",
        ]

        mutating func add(_ name: String, _ value: String) {
            let name = name.lowercased()
            guard Self.wanted.contains(name) else { return }
            values[name, default: []].append(value)
        }

        /// Nil when it is missing, or repeated: of two tokens or lengths none is the right one.
        subscript(name: String) -> String? {
            guard let found = values[name], found.count == 1 else { return nil }
            return found[0]
        }

        /// The last of all values, where the nearest proxy adds its own.
        func last(_ name: String) -> String? { values[name]?.last }

        func isRepeated(_ name: String) -> Bool { (values[name]?.count ?? 0) > 1 }
    }

    /// Two lengths, or a length and chunks: whoever stands between might see another end of the request than this server.
    static func isAmbiguous(_ headers: Headers) -> Bool {
        headers.isRepeated("content-length") || headers.isRepeated("transfer-encoding")
            || headers["content-length"] != nil && headers["transfer-encoding"] != nil
    }

    /// The bearer token of RFC 6750.
    var bearer: String? {
        guard let value = headers["authorization"] else { return nil }
        let parts = value.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    func cookie(_ name: String) -> String? {
        let pairs = (headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        let found = pairs.filter { $0.hasPrefix(name + "=") }
        return found.count == 1 ? String(found[0].dropFirst(name.count + 1)) : nil
    }
}
