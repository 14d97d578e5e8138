internal import CCurl
internal import CLinux
internal import Glibc
internal import MeasurementModel

/// One easy handle: a request to one address, without following its redirect. It lives on the client's thread.
final class Exchange {
    let easy: UnsafeMutableRawPointer
    let host: String
    let parts: URLParts
    let proxyPort: Int?
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var bodyOctets: Int64 = 0
    /// When the TLS handshake began. libcurl 7.88 tells the time of the connection only after the handshake, so that one that
    /// fails or hangs would look like a connection that was never made.
    private(set) var tlsBeganAt: MonotonicInstant?
    let startedAt = MonotonicInstant.now()
    private var headerOctets = 0
    private let keptBody: Int
    private let maximumBody: Int?
    private let onPeer: (@Sendable (IPAddress, UInt16) -> Void)?
    private let upload: UnsafeMutableBufferPointer<UInt8>?
    private let errorText: UnsafeMutablePointer<CChar>
    private var list: UnsafeMutablePointer<curl_slist>?

    /// More octets of headers end the exchange: no honest server sends them.
    private static let maximumHeaderOctets = 256 * 1024

    init(_ request: HTTPRequest, settings: HTTPClient.Settings) throws(HTTPError) {
        guard let parts = URLParts(request.url), parts.isFetchable else {
            throw HTTPError(.invalidURL, "'\(request.url)' is no address that can be fetched: write it as https://host/path")
        }
        guard let easy = curl_easy_init() else {
            throw HTTPError(.noResources, "libcurl has no memory for another request: send fewer at a time", isRetryable: true)
        }
        self.easy = easy
        self.parts = parts
        host = parts.host
        proxyPort = ProxyChoice(request.proxy, scheme: parts.scheme).port
        keptBody = request.keptBody
        maximumBody = request.maximumBody
        onPeer = request.onPeer
        upload = request.body.map { body in
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: body.count)
            _ = copy.initialize(from: body)
            return copy
        }
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure(request, settings)
        installCallbacks()
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(list)
        upload?.deallocate()
        errorText.deallocate()
    }

    private func configure(_ request: HTTPRequest, _ settings: HTTPClient.Settings) {
        ccurl_set_string(easy, CURLOPT_URL, request.url)
        ccurl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_string(easy, CURLOPT_USERAGENT, settings.userAgent)
        ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it, giving up on a name would wait for the resolver's own time-out, and every other transfer with it.
        ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        ccurl_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0)
        // Each phase is limited by PhaseWatch; libcurl's own limit of their sum must not come first.
        ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        ccurl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
        ccurl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
        Trust.system.apply(to: easy, caFile: settings.caFile)
        switch request.addressFamily {
        case .any: ccurl_set_long(easy, CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_WHATEVER))
        case .ipv4: ccurl_set_long(easy, CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: ccurl_set_long(easy, CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        switch request.proxy {
        case .environment: break
        case .none: ccurl_set_string(easy, CURLOPT_PROXY, "")
        case .url(let url): ccurl_set_string(easy, CURLOPT_PROXY, url)
        }
        configureMethod(request)
        for header in request.headers { list = curl_slist_append(list, "\(header.name): \(header.value)") ?? list }
        // A "100 Continue" that never comes would cost a second.
        list = curl_slist_append(list, "Expect:") ?? list
        ccurl_set_list(easy, CURLOPT_HTTPHEADER, list)
    }

    private func configureMethod(_ request: HTTPRequest) {
        if request.method == "HEAD" {
            ccurl_set_long(easy, CURLOPT_NOBODY, 1)
            return
        }
        if let upload {
            ccurl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(upload.count))
            ccurl_set_pointer(easy, CURLOPT_POSTFIELDS, upload.baseAddress ?? UnsafeMutablePointer(bitPattern: 1)!)
        }
        if request.method != "GET" || upload != nil { ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method) }
    }

    private func installCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_data_function(easy, CURLOPT_WRITEFUNCTION) { @Sendable data, _, count, context in
            Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue().take(UnsafeRawBufferPointer(start: data, count: count))
        }
        ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context)
        ccurl_set_data_function(easy, CURLOPT_HEADERFUNCTION) { @Sendable data, _, count, context in
            Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue().takeHeader(UnsafeRawBufferPointer(start: data, count: count))
        }
        ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context)
        ccurl_set_open_socket(
            easy,
            { @Sendable context, _, address in
                Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue().openSocket(address!)
            }, context)
        ccurl_set_tls_begin(
            easy,
            { @Sendable _, _, context in
                Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue().tlsBeganAt = .now()
                return CURLE_OK
            }, context)
    }

    private func take(_ data: UnsafeRawBufferPointer) -> Int {
        bodyOctets += Int64(data.count)
        if let maximumBody, bodyOctets > Int64(maximumBody) { return 0 }
        let room = keptBody - body.count
        if room > 0 { body.append(contentsOf: data.prefix(room)) }
        return data.count
    }

    var isBodyComplete: Bool { Int64(body.count) == bodyOctets }

    /// Octets in either direction, to notice when nothing moves.
    var octetsMoved: Int64 { bodyOctets + Int64(headerOctets) + offset(CURLINFO_SIZE_UPLOAD_T) }

    private func takeHeader(_ data: UnsafeRawBufferPointer) -> Int {
        headerOctets += data.count
        guard headerOctets <= Self.maximumHeaderOctets else { return 0 }
        let line = String(decoding: data, as: UTF8.self)
        // Each response begins anew: 100 Continue, a proxy's answer to CONNECT, and then the real one.
        if line.hasPrefix("HTTP/") {
            headers = []
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            headers.append((String(line[..<colon]), value.trimmingSpace))
        }
        return data.count
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if let onPeer, let (ip, port) = Self.peer(address) { onPeer(ip, port) }
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.pointee.family, kind, address.pointee.protocol)
    }

    private static func peer(_ address: UnsafeMutablePointer<curl_sockaddr>) -> (IPAddress, UInt16)? {
        withUnsafePointer(to: &address.pointee.addr) { generic in
            let raw = UnsafeRawPointer(generic)
            switch address.pointee.family {
            case AF_INET:
                let name = raw.loadUnaligned(as: sockaddr_in.self)
                let octets = withUnsafeBytes(of: name.sin_addr) { Array($0) }
                return IPAddress(octets: octets).map { ($0, UInt16(bigEndian: name.sin_port)) }
            case AF_INET6:
                let name = raw.loadUnaligned(as: sockaddr_in6.self)
                let octets = withUnsafeBytes(of: name.sin6_addr) { Array($0) }
                return IPAddress(octets: octets).map { ($0, UInt16(bigEndian: name.sin6_port)) }
            default: return nil
            }
        }
    }

    func error(_ result: CURLcode, family: HTTPRequest.AddressFamily) -> HTTPError {
        if let maximumBody, bodyOctets > Int64(maximumBody) {
            return HTTPError(.bodyTooLarge, "'\(host)' sent more than the \(maximumBody) octets that were expected: check the address")
        }
        let text = errorText[0] == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        return .curl(result, text: text, systemError: Int32(long(CURLINFO_OS_ERRNO)), host: host, family: family)
    }
}

extension Substring {
    fileprivate var trimmingSpace: String {
        var rest = self
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
