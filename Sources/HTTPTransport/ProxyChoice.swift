internal import Glibc

/// Which proxy libcurl would use, to say afterwards whether one was: libcurl tells it only from 8.7 on.
struct ProxyChoice {
    /// Of the proxy that is configured for the address; nil when there is none.
    let port: Int?

    /// The variables in curl(1)'s order; `HTTP_PROXY` in capitals does not count, because a CGI request could set it.
    init(_ proxy: HTTPRequest.Proxy, scheme: String) {
        let text: String? =
            switch proxy {
            case .none: nil
            case .url(let url): url
            case .environment:
                (scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]).lazy.compactMap(Self.variable).first
                    ?? ["all_proxy", "ALL_PROXY"].lazy.compactMap(Self.variable).first
            }
        // libcurl's default for a proxy is 1080, where the address names no port (CURLOPT_PROXY(3)).
        port = text.map { URLParts($0.contains("://") ? $0 : "http://" + $0)?.explicitPort ?? 1080 }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value[0] != 0 else { return nil }
        return String(cString: value)
    }
}
