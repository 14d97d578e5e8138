internal import MeasurementModel

extension ClientAPI {
    /// Before the body: whoever has no token sends none.
    func admitMeasurement(_ request: ServerRequest) throws {
        let token = try service.tokens.verify(request.bearer, now: service.now())
        try service.pass(service.uploadsByClient, token.clientUUID)
        try Self.requireJSON(request)
        guard Self.packing(request) != nil else {
            throw Problem(.unsupportedMediaType, "Content-Encoding must be gzip or identity.")
        }
        guard ReportDocument.isUUID(request.parameters[0]) else {
            throw Problem(.documentInvalid, "The identifier in the path must be a UUID in lower case.")
        }
    }

    /// Whether the body is packed; nil for what the server cannot unpack.
    private static func packing(_ request: ServerRequest) -> Bool? {
        if request.headers.isRepeated("content-encoding") { return nil }
        switch request.headers["content-encoding"]?.lowercased() {
        case nil, "identity": return false
        case "gzip": return true
        default: return nil
        }
    }

    func storeMeasurement(_ request: ServerRequest) throws -> ServerResponse {
        let now = service.now()
        let id = request.parameters[0]
        let client = try client(request, now: now)
        // A repeated delivery is answered before anything else about the document: what was accepted stays accepted.
        if let owner = try service.store.owner(ofMeasurement: id) {
            guard owner == client.uuid else { throw Problem(.idConflict) }
            return stored(id, again: true)
        }
        let isGzip = Self.packing(request) == true
        let report = try ReportDocument(unpacked(request.body, isGzip), id: id, client: client)
        if let name = try service.store.key(client.keyID, now: now)?.capability, let capability = try service.store.capability(name),
            !capability.allows(type: report.type, subject: report.subject)
        {
            throw Problem(
                .kindNotAllowed, "The registration key does not allow the type '\(report.type)' with the subject '\(report.subject)'.")
        }
        let record = report.record(client: client, receivedAt: now)
        switch try service.store.store(record, StoredDocument(octets: request.body, isGzip: isGzip), now: now) {
        case .stored: return stored(id, again: false)
        case .alreadyStored: return stored(id, again: true)
        case .ofAnotherClient: throw Problem(.idConflict)
        case .clientGone: throw Problem(.unknownCredentials)
        case .clientElapsed: throw Problem(.usageWindowElapsed)
        case .clientDisabled(let reason): throw Self.disabled(reason)
        }
    }

    private func stored(_ id: String, again: Bool) -> ServerResponse {
        again ? .json(200, ["id": .string(id), "already_stored": .bool(true)]) : .json(201, ["id": .string(id)])
    }

    private func unpacked(_ body: [UInt8], _ isGzip: Bool) throws -> [UInt8] {
        guard isGzip else { return body }
        do {
            return try Gzip.inflate(body, limit: service.limits.document)
        } catch .tooLarge {
            throw Problem(.documentTooLarge, "The document unpacks to more than \(service.limits.document) octets.")
        } catch .damaged {
            throw Problem(.documentInvalid, "The body is not one complete gzip member.")
        }
    }
}
