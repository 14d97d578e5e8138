internal import CCurl
internal import MeasurementModel

/// What libcurl tells about an exchange (curl_easy_getinfo(3)).
extension Exchange {
    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return ccurl_get_long(easy, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return ccurl_get_offset(easy, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    private func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard ccurl_get_string(easy, info, &value) == CURLE_OK, let value, value[0] != 0 else { return nil }
        return String(cString: value)
    }

    /// Microseconds since the exchange's start; libcurl gives 0 for what did not happen.
    private func time(_ info: CURLINFO) -> Duration? {
        let microseconds = offset(info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// The peer's port is the proxy's. Only an address with that very port that is exempt from the proxy would be taken for its user.
    private var usedProxy: Bool { proxyPort != nil && long(CURLINFO_PRIMARY_PORT) == proxyPort }

    /// A connection of an earlier exchange carries this one: it has a peer, and nothing was connected for it.
    private var reusedConnection: Bool { time(CURLINFO_PRETRANSFER_TIME_T) != nil && long(CURLINFO_NUM_CONNECTS) == 0 }

    /// Where the exchange is.
    var phase: HTTPPhase {
        if time(CURLINFO_STARTTRANSFER_TIME_T) != nil { return .body }
        if time(CURLINFO_PRETRANSFER_TIME_T) != nil { return .firstByte }
        if tlsBeganAt != nil { return .tls }
        if time(CURLINFO_CONNECT_TIME_T) != nil { return parts.scheme == "https" ? .tls : .firstByte }
        return time(CURLINFO_NAMELOOKUP_TIME_T) != nil ? .connect : .nameLookup
    }

    /// Where the response sends the client on to, as a complete address.
    var redirect: String? { text(CURLINFO_REDIRECT_URL) }

    private var timings: HTTPTimings {
        let isNew = !reusedConnection
        return HTTPTimings(
            nameLookedUp: isNew && (usedProxy || !parts.isLiteral) ? time(CURLINFO_NAMELOOKUP_TIME_T) : nil,
            connected: isNew ? time(CURLINFO_CONNECT_TIME_T) ?? tlsBeganAt.map { $0 - startedAt } : nil,
            secured: isNew ? time(CURLINFO_APPCONNECT_TIME_T) : nil,
            requested: time(CURLINFO_PRETRANSFER_TIME_T), firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            ended: time(CURLINFO_TOTAL_TIME_T) ?? .zero)
    }

    func hop() -> HTTPHop {
        let status = long(CURLINFO_RESPONSE_CODE)
        let version: String? =
            switch long(CURLINFO_HTTP_VERSION) {
            case Int(CURL_HTTP_VERSION_1_0): "1.0"
            case Int(CURL_HTTP_VERSION_1_1): "1.1"
            case Int(CURL_HTTP_VERSION_2_0): "2"
            case Int(CURL_HTTP_VERSION_3): "3"
            default: nil
            }
        let port = long(CURLINFO_PRIMARY_PORT)
        return HTTPHop(
            url: parts.shown, status: status > 0 ? status : nil, timings: timings, reusedConnection: reusedConnection,
            usedProxy: usedProxy, remoteAddress: text(CURLINFO_PRIMARY_IP), remotePort: port > 0 ? port : nil,
            localAddress: text(CURLINFO_LOCAL_IP), httpVersion: status > 0 ? version : nil,
            isSecured: parts.scheme == "https" && time(CURLINFO_PRETRANSFER_TIME_T) != nil,
            headerOctets: Int64(long(CURLINFO_HEADER_SIZE)), bodyOctets: bodyOctets)
    }
}
