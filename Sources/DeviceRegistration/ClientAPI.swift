internal import HTTPTransport
internal import MeasurementModel
internal import ProbeLog

/// What the registered device asks of its server. Tokens are its own affair: it has one made when it needs one, keeps it for as long as the
/// server said, and has it renewed once when the server refuses it all the same.
public struct ClientAPI: Sendable {
    public let registry: Registry

    public init(registry: Registry) { self.registry = registry }

    /// Sends one report.
    ///
    /// - Parameters:
    ///   - id: the report's, by which the server knows it again: sending it twice stores it once.
    ///   - body: the report as JSON, or that compressed.
    ///   - gzip: the body is compressed by gzip (RFC 1952).
    /// - Throws: only `CancellationError`. What became of the report is in the outcome, and with it what to do with it.
    public func uploadMeasurement(id: String, body: [UInt8], gzip: Bool = false) async throws -> UploadOutcome {
        guard !id.isEmpty, id.utf8.allSatisfy({ Self.idOctets.contains($0) }) else {
            return .refusedForGood(ServerProblem(status: 0, code: "invalid_id", detail: "'\(id)' is no id of a measurement"))
        }
        let headers = [("Content-Type", "application/json")] + (gzip ? [("Content-Encoding", "gzip")] : [])
        do {
            // It also stores what is used of the granted time: a test is over, most likely.
            let client = try registry.credentials()
            let answer = try await registry.withToken { [connection = registry.connection] token in
                try await connection.send("PUT", "/measurements/\(id)", token: token, headers: headers, body: body)
            }
            return try registry.outcome(of: answer, client)
        } catch let error as RegistryError {
            return UploadOutcome(error)
        }
    }

    /// Those of a UUID, and what else needs no escaping in a path (RFC 3986, section 2.3).
    private static let idOctets = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~".utf8)
}

extension Registry {
    /// Does a request with a token, and once more with another one if the server refuses it.
    func withToken(_ request: (AccessToken) async throws -> ServerConnection.Answer) async throws -> ServerConnection.Answer {
        let token = try await token()
        let answer = try await request(token)
        guard answer.status == 401, ["token_expired", "token_invalid"].contains(answer.problem?.code) else { return answer }
        settings.logger.named("ClientAPI").info("the server refused the token: it is renewed")
        return try await request(try await self.token(insteadOf: token))
    }

    func outcome(of answer: ServerConnection.Answer, _ client: StoredClient) throws(RegistryError) -> UploadOutcome {
        switch (answer.status, answer.problem?.code) {
        case (201, _): return .stored
        case (200, _):
            guard answer.json["id"]?.string != nil else { return .retry(ServerConnection.unexpected(200), after: nil) }
            return .alreadyStored
        case (403, "kind_not_allowed"?), (409, "id_conflict"?): break
        // What is said about the device or about the moment says nothing about the report.
        case (401, _), (403, _), (408, _), (409, _), (425, _), (429, _): return try refused(answer, client)
        default: break
        }
        if let problem = answer.problem, (400..<500).contains(problem.status) { return .refusedForGood(problem) }
        return try refused(answer, client)
    }

    private func refused(_ answer: ServerConnection.Answer, _ client: StoredClient) throws(RegistryError) -> UploadOutcome {
        let refusal = answer.refusal
        if let reason = refusal.dropReason { try drop(reason, client) }
        return UploadOutcome(refusal)
    }
}
