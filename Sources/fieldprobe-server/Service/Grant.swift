internal import MeasurementModel

/// The time for which a device may run tests, as a document that the server signs (JWS, RFC 7515; Ed25519, RFC 8037) and the device checks.
struct Grant: Sendable {
    static let maximumSeconds: Int64 = 7 * 86_400

    let client: Client
    let capability: Capability?
    /// Of the request: an old grant cannot answer a new one.
    let nonce: String
    let seconds: Int64
    let issuedAt: Timestamp

    init(client: Client, key: RegistrationKey?, capability: Capability?, nonce: String, now: Timestamp) {
        self.client = client
        self.capability = capability
        self.nonce = nonce
        issuedAt = now
        var end = now.adding(milliseconds: Self.maximumSeconds * 1000)
        if let usage = client.usageUntil { end = min(end, usage) }
        // A grant that begins within the key's window ends with it; after it, registered devices go on as usual.
        if let until = key?.validUntil, now < until { end = min(end, until) }
        seconds = max(1, (end.milliseconds - now.milliseconds) / 1000)
    }

    var payload: JSONObject {
        var payload: JSONObject = [
            "v": .integer(1), "client_uuid": .string(client.uuid), "nonce": .string(nonce), "machine": .string(client.machine),
            "granted_seconds": .integer(seconds), "issued_at": .integer(issuedAt.milliseconds / 1000),
        ]
        payload["capability"] = capability?.json
        payload["label"] = client.label.map { .string($0) }
        if !client.tags.isEmpty { payload["tags"] = .strings(client.tags) }
        return payload
    }

    func signed(by key: SigningKey) -> String {
        let header = Base64.urlText(Array(#"{"alg":"EdDSA","typ":"JWT"}"#.utf8))
        let text = header + "." + Base64.urlText(JSONValue.object(payload).utf8())
        return text + "." + Base64.urlText(key.sign(Array(text.utf8)))
    }
}

extension Capability {
    var json: JSONValue {
        .object([
            "allow_types": .strings(allowTypes), "allow_subjects": .strings(allowSubjects), "forbid_types": .strings(forbidTypes),
            "forbid_subjects": .strings(forbidSubjects),
        ])
    }
}
