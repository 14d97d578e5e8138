internal import MeasurementModel
internal import ProbeLog

/// client_api/v1, as docs/client-api.yaml states it.
struct ClientAPI: Sendable {
    let service: Service

    private static let base = "/client_api/v1"

    var routes: [Route] {
        [
            Route(.post, "\(Self.base)/registrations", lane: .hashing, bodyLimit: 16 << 10, admit: admitJSON, handle: register),
            Route(.post, "\(Self.base)/authentications", lane: .hashing, bodyLimit: 16 << 10, admit: admitJSON, handle: authenticate),
            Route(
                .put, "\(Self.base)/measurements/*", bodyLimit: service.limits.packedDocument, tooLarge: .documentTooLarge,
                admit: admitMeasurement, handle: storeMeasurement),
            Route(.delete, "\(Self.base)/clients/self", handle: unregister),
            Route(.get, "/health") { _ in .json(200, ["status": .string("ok"), "version": .string(ServerVersion.current)]) },
        ]
    }

    private func admitJSON(_ request: ServerRequest) throws {
        try Self.requireJSON(request)
        guard request.headers["content-encoding"].map({ $0.lowercased() == "identity" }) ?? true else {
            throw Problem(.unsupportedMediaType, "This operation takes no Content-Encoding.")
        }
    }

    static func requireJSON(_ request: ServerRequest) throws {
        let type = request.headers["content-type"]?.split(separator: ";").first?.lowercased().filter { $0 != " " }
        guard type == "application/json" else { throw Problem(.unsupportedMediaType) }
    }

    /// The client that a token speaks for, when it still may.
    func client(_ request: ServerRequest, now: Timestamp) throws -> Client {
        let token = try service.tokens.verify(request.bearer, now: now)
        guard let client = try service.store.client(token.clientUUID, now: now) else { throw Problem(.unknownCredentials) }
        guard Hash.areEqual(TokenIssuer.mark(client.machine), token.machineMark) else {
            throw Problem(.tokenInvalid, "Another machine has adopted this client since.")
        }
        try Self.requireActive(client)
        return client
    }

    static func requireActive(_ client: Client) throws {
        switch client.state {
        case .active: break
        case .elapsed: throw Problem(.usageWindowElapsed)
        case .disabled: throw disabled(client.disabledReason)
        }
    }

    /// The administrator's own words, where there are any: the device shows them.
    static func disabled(_ reason: String?) -> Problem { Problem(.clientDisabled, reason) }

    private func unregister(_ request: ServerRequest) throws -> ServerResponse {
        let now = service.now()
        let token = try service.tokens.verify(request.bearer, now: now)
        guard let client = try service.store.client(token.clientUUID, now: now) else { throw Problem(.unknownCredentials) }
        guard Hash.areEqual(TokenIssuer.mark(client.machine), token.machineMark) else { throw Problem(.tokenInvalid) }
        // A disabled client holds no slot that it could free, and its record says why it was disabled: that stays.
        if client.state == .disabled { throw Self.disabled(client.disabledReason) }
        guard try service.store.removeClient(client.uuid) else { throw Problem(.unknownCredentials) }
        service.log.info("client unregistered", ("client", client.uuid))
        return ServerResponse(204)
    }
}
