internal import CCurl
internal import Glibc
internal import MeasurementModel

extension HTTPError {
    /// What a result code of libcurl-errors(3) means here, and what to do about it.
    static func curl(_ result: CURLcode, text: String, systemError: Int32, host: String, family: HTTPRequest.AddressFamily) -> HTTPError {
        let cause = "curl \(result.rawValue): \(text)"
        func error(_ code: Code, _ message: String, retry: Bool = false) -> HTTPError {
            HTTPError(code, message, cause: cause, isRetryable: retry)
        }
        switch result {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return error(.invalidURL, "this is no address that can be fetched: write it as https://host/path")
        case CURLE_COULDNT_RESOLVE_HOST:
            let wanted = family == .any ? "" : " to an \(family == .ipv4 ? "IPv4" : "IPv6") address"
            return error(
                .nameNotResolved, "'\(host)' could not be resolved\(wanted): check the name and the resolver in /etc/resolv.conf",
                retry: true)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
            return connectFailed(systemError, host: host, cause: cause)
        case CURLE_OPERATION_TIMEDOUT:
            return error(.timedOut, "'\(host)' took too long: check the connection, or allow more time", retry: true)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            return error(
                .untrustedCertificate,
                "the certificate of '\(host)' was not accepted: check its name and this device's clock, or name its issuer in a CA file")
        case CURLE_SSL_CACERT_BADFILE:
            return error(.unreadableCAFile, "the CA file could not be read: it must hold certificates in PEM form")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_USE_SSL_FAILED:
            return error(.tlsFailed, "no secure connection to '\(host)' could be made: check that it speaks TLS on this port")
        case CURLE_PARTIAL_FILE:
            return error(.truncated, "'\(host)' ended the connection before the whole answer had come: try again", retry: true)
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            return error(.connectionLost, "the connection to '\(host)' broke: try again", retry: true)
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return error(.proxyFailed, "the proxy could not be used: check http_proxy and https_proxy", retry: true)
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
            return error(.noResources, "this machine is out of memory or descriptors: end other programs, or raise the limits", retry: true)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_BAD_CONTENT_ENCODING:
            return error(.protocolViolation, "'\(host)' does not answer in correct HTTP: check the port and the server")
        default:
            return error(.other, "'\(host)' could not be fetched: \(text)")
        }
    }

    /// connect(2)'s errno decides what to advise.
    private static func connectFailed(_ systemError: Int32, host: String, cause: String) -> HTTPError {
        switch systemError {
        case ECONNREFUSED:
            HTTPError(
                .connectionRefused, "'\(host)' refused the connection: check that a server listens on this port", cause: cause,
                isRetryable: true)
        case ETIMEDOUT:
            HTTPError(.timedOut, "'\(host)' does not answer: check the connection and firewalls", cause: cause, isRetryable: true)
        case EMFILE, ENFILE:
            HTTPError(
                .noResources, "this process has no descriptor left: close files, or raise the limit (ulimit -n)", cause: cause,
                isRetryable: true)
        default:
            HTTPError(
                .unreachable, "there is no way to '\(host)': check the network connection and its routes",
                cause: systemError > 0 ? "\(cause); \(SystemError.text(systemError))" : cause, isRetryable: true)
        }
    }

    static func timedOut(_ phase: HTTPPhase, after limit: Duration, host: String) -> HTTPError {
        let what =
            switch phase {
            case .nameLookup: "the resolver did not answer for '\(host)'"
            case .connect: "'\(host)' did not accept the connection"
            case .tls: "'\(host)' did not finish the TLS handshake"
            case .firstByte: "'\(host)' sent no answer"
            case .body: "'\(host)' stopped sending"
            case .total: "the request to '\(host)' was not done"
            }
        return HTTPError(
            .timedOut, "\(what) within \(limit.milliseconds) ms: check the connection, or allow more time", isRetryable: true)
    }
}
