internal import HTTPTransport
internal import MeasurementModel

/// Requests to one server's client API, and its answers. What is no answer of the API is an error here, whoever sent it.
struct ServerConnection: Sendable {
    let client: HTTPClient
    let endpoint: APIEndpoint
    let timeouts: HTTPTimeouts
    let proxy: HTTPRequest.Proxy
    let clock: @Sendable () -> MonotonicInstant

    /// The API's longest answer is a grant with its capability.
    private static let greatestAnswer = 256 * 1024

    struct Answer: Sendable {
        let status: Int
        /// Null where there is no body.
        let json: JSONValue
        /// What a refusal says, by its stable code (RFC 9457).
        let problem: ServerProblem?
        /// The server saw its clock between these two: without what it took to find and to reach it.
        let requestedAt: MonotonicInstant
        let answeredAt: MonotonicInstant
        let retryAfter: Duration?
    }

    /// - Parameter path: below the base address, with its slash.
    /// - Throws: ``RegistryError``, or `CancellationError`.
    func send(
        _ method: String, _ path: String, token: AccessToken? = nil, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = HTTPRequest(endpoint.text + path, method: method, body: body)
        request.headers = [("Accept", "application/json, application/problem+json")] + headers
        if let token { request.headers.append(("Authorization", "Bearer \(token.text)")) }
        request.timeouts = timeouts
        request.proxy = proxy
        // A redirect would take the secret or a report to wherever it points.
        request.maximumRedirects = 0
        request.keptBody = Self.greatestAnswer
        request.maximumBody = Self.greatestAnswer
        let sentAt = clock()
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch let error as HTTPError {
            throw Self.failure(error)
        }
        let receivedAt = clock()
        let timings = response.last.timings
        let requestedAt = min(sentAt + (timings.requested ?? .zero), receivedAt)
        let answeredAt = max(receivedAt - (timings.firstByte.map { timings.ended - $0 } ?? .zero), requestedAt)
        return try answer(response, requestedAt: requestedAt, answeredAt: answeredAt)
    }

    func post(_ path: String, _ body: JSONObject) async throws -> Answer {
        try await send(
            "POST", path, headers: [("Content-Type", "application/json")], body: JSONValue.object(body).utf8(pretty: false))
    }

    private func answer(
        _ response: HTTPResponse, requestedAt: MonotonicInstant, answeredAt: MonotonicInstant
    ) throws(RegistryError) -> Answer {
        let status = response.status
        guard !(300..<400).contains(status) else {
            throw RegistryError(
                .redirected, "the server sends requests on to another address, which is not followed: configure the final address",
                cause: "status \(status)")
        }
        let json = response.body.isEmpty ? .null : try? JSONValue(parsing: response.body, maximumDepth: 16)
        let type = response.header("Content-Type")?.lowercased() ?? ""
        var problem: ServerProblem?
        if status >= 400 {
            // By its type and code: a proxy's or a captive portal's 401 must not cost a registration.
            if type.hasPrefix("application/problem+json"), let json { problem = ServerProblem(status: status, json: json) }
            if problem == nil, status < 500, status != 429 { throw Self.unexpected(status) }
        }
        guard let json = status >= 400 ? json ?? .null : json else { throw Self.unexpected(status) }
        return Answer(
            status: status, json: json, problem: problem, requestedAt: requestedAt, answeredAt: answeredAt,
            retryAfter: response.header("Retry-After").flatMap { Int64($0) }.flatMap { (0...86_400).contains($0) ? .seconds($0) : nil })
    }

    static func unexpected(_ status: Int) -> RegistryError {
        RegistryError(
            .unexpectedAnswer,
            "what answered is not the client API: check the configured address, and whether this network asks for a sign-in first",
            retry: .later(after: nil), cause: "status \(status)")
    }

    private static func failure(_ error: HTTPError) -> RegistryError {
        if error.code == .bodyTooLarge {
            return RegistryError(
                .answerTooLarge, "the answer is too long for the client API: check the configured address", retry: .later(after: nil),
                transport: error)
        }
        return RegistryError(
            .unreachable, "the server gave no answer: \(error.message)", retry: .later(after: nil), transport: error, cause: error.cause)
    }
}
