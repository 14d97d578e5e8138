internal import CCurl
internal import MeasurementModel

/// What libcurl makes of an address: one parser decides what is fetched and what is said about it.
struct URLParts {
    let scheme: String
    /// Lower case, without brackets.
    let host: String
    let port: String
    /// The port, where the address names one.
    let explicitPort: Int?
    /// The address without user and password, for reports.
    let shown: String

    init?(_ text: String) {
        guard let url = curl_url() else { return nil }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(url, part, &value, flags) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST), !host.isEmpty else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased().trimmingBrackets
        port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) ?? ""
        explicitPort = part(CURLUPART_PORT).flatMap { Int($0) }
        curl_url_set(url, CURLUPART_USER, nil, 0)
        curl_url_set(url, CURLUPART_PASSWORD, nil, 0)
        shown = part(CURLUPART_URL) ?? text
    }

    var isFetchable: Bool { scheme == "http" || scheme == "https" }
    var isLiteral: Bool { IPAddress(host) != nil }
    var origin: String { "\(scheme)://\(host):\(port)" }
}

extension String {
    fileprivate var trimmingBrackets: String { hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self }
}

extension HTTPClient {
    /// The host of an `http` or `https` address as this client reads it: lower case, without brackets. Nil for what is none.
    public static func host(of url: String) -> String? {
        guard let parts = URLParts(url), parts.isFetchable else { return nil }
        return parts.host
    }
}
