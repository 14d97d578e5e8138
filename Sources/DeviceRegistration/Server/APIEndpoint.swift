internal import HTTPTransport
internal import MeasurementModel

/// The base address of a server's client API.
struct APIEndpoint: Sendable, Hashable {
    /// Without a trailing slash.
    let text: String

    init(_ text: String) {
        var rest = text[...]
        while rest.last == "/" { rest.removeLast() }
        self.text = String(rest)
    }

    /// - Throws: ``RegistryError`` for what is no address, and for one over which the secret would be shown to the network.
    func check(allowsPlainHTTP: Bool) throws(RegistryError) {
        let lower = text.lowercased()
        let authority = lower.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        guard let host = HTTPClient.host(of: text), lower.hasPrefix("https://") || lower.hasPrefix("http://"),
            !text.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }), !authority.contains("@")
        else {
            throw RegistryError(
                .invalidEndpoint, "'\(text)' is no address of a client API: write it as https://server/client_api/v1")
        }
        guard lower.hasPrefix("http://"), !allowsPlainHTTP else { return }
        let isLoopback = host == "localhost" || IPAddress(host)?.isLoopback == true
        guard isLoopback else {
            throw RegistryError(
                .insecureEndpoint,
                "'\(text)' is not encrypted: use https, or allow plain HTTP in the settings if the network may see the secret")
        }
    }
}
