internal import CCurl
internal import MeasurementModel

/// One request on its way: its exchanges, one after the other, and whoever waits for it.
///
/// Unchecked, because it is touched by the thread that made it until it is submitted, and by the client's thread from then on.
final class Transfer: @unchecked Sendable {
    enum Next { case redirected, finished }

    let id: UInt64
    private(set) var exchange: Exchange?
    private var request: HTTPRequest
    private let settings: HTTPClient.Settings
    private let continuation: CheckedContinuation<HTTPResponse, any Error>
    private let startedAt = MonotonicInstant.now()
    private var hops: [HTTPHop] = []
    private var watch = PhaseWatch()

    init(
        id: UInt64, request: HTTPRequest, settings: HTTPClient.Settings, continuation: CheckedContinuation<HTTPResponse, any Error>
    ) {
        self.id = id
        self.request = request
        self.settings = settings
        self.continuation = continuation
    }

    /// Makes the handle for the first exchange, or for the one that the last redirect asks for.
    func nextExchange() throws(HTTPError) -> UnsafeMutableRawPointer {
        let exchange: Exchange
        do { exchange = try Exchange(request, settings: settings) } catch { throw error.with(phase: nil, hops: hops) }
        self.exchange = exchange
        watch = PhaseWatch()
        return exchange.easy
    }

    /// Why the request may take no longer; nil while it may.
    func overdue(at now: MonotonicInstant) -> HTTPError? {
        guard let exchange else { return nil }
        watch.look(at: exchange, now: now)
        let timeouts = request.timeouts
        let limit: HTTPPhase
        if now >= watch.since + timeouts.limit(of: watch.phase) {
            limit = watch.phase
        } else if now >= startedAt + timeouts.total {
            limit = .total
        } else {
            return nil
        }
        let error = HTTPError.timedOut(limit, after: timeouts.limit(of: limit), host: exchange.host)
        return error.with(phase: watch.phase, hops: hops + [exchange.hop()])
    }

    /// When ``overdue(at:)`` has to be asked again at the latest.
    var deadline: MonotonicInstant {
        min(startedAt + request.timeouts.total, watch.since + request.timeouts.limit(of: watch.phase))
    }

    func exchangeEnded(_ result: CURLcode) -> Next {
        guard let exchange else { return .finished }
        watch.look(at: exchange, now: .now())
        hops.append(exchange.hop())
        guard result == CURLE_OK else {
            fail(exchange.error(result, family: request.addressFamily).with(phase: watch.phase, hops: hops))
            return .finished
        }
        if let next = exchange.redirect, request.maximumRedirects > 0 {
            guard hops.count <= request.maximumRedirects else {
                fail(
                    HTTPError(
                        .tooManyRedirects, "'\(exchange.host)' redirects in a circle, or more than \(request.maximumRedirects) times",
                        phase: .body, hops: hops))
                return .finished
            }
            request.redirect(to: next, status: hops[hops.count - 1].status ?? 0)
            self.exchange = nil
            return .redirected
        }
        let response = HTTPResponse(
            hops: hops, headers: exchange.headers, body: exchange.body, isBodyComplete: exchange.isBodyComplete,
            duration: MonotonicInstant.now() - startedAt)
        self.exchange = nil
        continuation.resume(returning: response)
        return .finished
    }

    /// The request was never taken on.
    func refuse(_ error: HTTPError) { continuation.resume(throwing: error) }

    /// Ends the request; its handle has left the multi handle already.
    func fail(_ error: any Error) {
        exchange = nil
        continuation.resume(throwing: error)
    }
}

extension HTTPRequest {
    /// What a redirect makes of a request (RFC 9110, section 15.4): 303 always becomes a GET, 301 and 302 turn a POST into one, as
    /// browsers do. What proves an identity is for the origin that it was meant for.
    mutating func redirect(to next: String, status: Int) {
        if (status == 303 && method != "HEAD") || ((status == 301 || status == 302) && method == "POST") {
            method = "GET"
            body = nil
            headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        if URLParts(url)?.origin != URLParts(next)?.origin {
            headers.removeAll { ["authorization", "cookie", "proxy-authorization"].contains($0.name.lowercased()) }
        }
        url = next
    }
}
