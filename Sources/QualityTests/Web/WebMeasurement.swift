internal import CollectorCore
public import HTTPTransport
internal import MeasurementModel

/// The built-in WEB test: fetches addresses one after the other and says how long each part took.
///
/// Each address is measured as if it were the first: with connections, names and TLS sessions of no other. An address that cannot be
/// fetched is a finding, not an error.
public struct WebMeasurement: Sendable {
    /// How the pages are fetched.
    public struct Settings: Sendable {
        public var addressFamily = HTTPRequest.AddressFamily.any
        public var timeouts = HTTPTimeouts()
        /// Of each page; one more is an error.
        public var maximumRedirects = 10
        /// Certificates that are trusted instead of the system's, in PEM form.
        public var caFile: String?
        public var proxy = HTTPRequest.Proxy.environment

        public init() {}
    }

    /// `http` or `https` addresses; one without a scheme is taken as `https`.
    public let urls: [String]
    public var settings: Settings

    public init(_ urls: [String], settings: Settings = Settings()) {
        self.urls = urls.map { $0.contains("://") ? $0 : "https://" + $0 }
        self.settings = settings
    }

    /// The host that the test is about, when its caller names no other: the first address's.
    public var target: String? { urls.first.flatMap { HTTPClient.host(of: $0) } }

    /// How the target becomes known without a lookup that would spoil this measurement.
    public func lookup(of target: String?) -> TargetLookup {
        let measured = urls.contains { HTTPClient.host(of: $0) == target?.lowercased() }
        return measured ? .measurement : .resolver
    }

    /// - Throws: only `CancellationError`.
    public func run(in session: TestSession) async throws -> WebResult {
        var pages: [WebResult.Page] = []
        for url in urls {
            try Task.checkCancellation()
            pages.append(try await fetch(url, session))
        }
        return WebResult(pages: pages)
    }

    private func fetch(_ url: String, _ session: TestSession) async throws -> WebResult.Page {
        var request = HTTPRequest(url)
        request.addressFamily = settings.addressFamily
        request.timeouts = settings.timeouts
        request.maximumRedirects = settings.maximumRedirects
        request.proxy = settings.proxy
        request.keptBody = 0
        let target = session.target.value.host?.lowercased()
        if target == nil || HTTPClient.host(of: url) == target { request.onPeer = { address, _ in session.reached(address) } }
        var client = HTTPClient.Settings()
        client.userAgent = "fieldprobe/\(ProductVersion.current)"
        client.caFile = settings.caFile
        // A client of its own for each address: nothing is left from the one before.
        let http = HTTPClient(settings: client)
        do {
            let response = try await http.send(request)
            await http.close()
            return WebResult.Page(url: url, hops: response.hops, duration: response.duration, error: nil)
        } catch let error as HTTPError {
            await http.close()
            return WebResult.Page(url: url, hops: error.hops, duration: nil, error: error)
        } catch {
            await http.close()
            throw error
        }
    }
}
