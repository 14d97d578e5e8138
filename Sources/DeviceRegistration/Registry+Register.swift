internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

extension Registry {
    /// Registers this device. It returns once the server has also confirmed the new credentials, so that tests can run.
    ///
    /// A call that fails for want of an answer can be repeated with the same key: it takes no second slot. Where credentials are stored
    /// already and were never confirmed, they are confirmed now, and no other ones are asked for.
    ///
    /// - Parameters:
    ///   - registrationKey: as the administrator of the server gave it out. It is stored nowhere.
    ///   - label: a name that no other client of the server has.
    ///   - tags: words to find this client by.
    ///   - force: registers although an administrator has disabled this device. It takes another slot of the key.
    /// - Throws: ``RegistryError``, or `CancellationError`.
    public func registerClient(registrationKey: String, label: String? = nil, tags: [String] = [], force: Bool = false) async throws {
        try endpoint.check(allowsPlainHTTP: settings.allowsPlainHTTP)
        try await locked {
            let standing = try standing()
            if let client = standing.stored?.client {
                // Credentials that were never confirmed are of a registration that was cut short: going on with it takes no slot.
                guard standing.stored?.grant == nil, client.endpoint == endpoint.text else {
                    throw RegistryError(
                        .alreadyRegistered,
                        "this device is registered already, as \(client.uuid): unregister it first if it is to be another client")
                }
                return
            }
            if case .dropped(let reason) = standing.state, !reason.allowsRegisteringAgain, !force {
                throw RegistryError(.registeringAgainRefused, reason.message, dropReason: reason)
            }
            try await obtainCredentials(registrationKey, label, tags, standing.stored)
        }
        try await authenticate()
    }

    private func obtainCredentials(_ key: String, _ label: String?, _ tags: [String], _ stored: StoredRegistration?) async throws {
        let pending = try pendingRegistration(key, stored)
        let machine = try settings.machine.hash(salt: pending.salt)
        var body: JSONObject = ["registration_key": .string(key)]
        body["label"] = label.map(JSONValue.string)
        body["tags"] = tags.isEmpty ? nil : .strings(tags)
        body["machine"] = .string(machine)
        body["nonce"] = .string(pending.nonce)
        let answer = try await connection.post("/registrations", body)
        guard answer.status == 201 else {
            let refusal = answer.refusal
            // Refused for good: the nonce has taken nothing, and the next try is a new one.
            if refusal.retry == .never { try? forgetPending(keeping: stored?.drop) }
            throw refusal
        }
        guard let uuid = answer.json["client_uuid"]?.string, !uuid.isEmpty, uuid.utf8.count <= 64,
            let secret = answer.json["secret"]?.string, Base64URL.octets(secret)?.count == 32,
            let serverKey = answer.json["server_key"]?.string.flatMap(Base64URL.octets), serverKey.count == 32
        else { throw ServerConnection.unexpected(answer.status) }
        let client = StoredClient(
            uuid: uuid, secret: secret, serverKey: serverKey, endpoint: endpoint.text, salt: pending.salt, machine: machine,
            label: label, tags: tags)
        try store.replace(StoredRegistration(client: client))
        settings.logger.named("Registry").info("registered", ("client", uuid))
        memory.withLock { $0.refused = nil }
        _ = try standing()
    }

    private func forgetPending(keeping drop: StoredDrop?) throws(RegistryError) {
        if drop == nil { try store.removeAll() } else { try store.replace(StoredRegistration(drop: drop), keepsPrevious: false) }
    }

    /// What makes the request recognisable is on the disk before the request is sent.
    private func pendingRegistration(_ key: String, _ stored: StoredRegistration?) throws -> PendingRegistration {
        if let pending = stored?.pending, pending.endpoint == endpoint.text, pending.keyDigest == Self.digest(of: key, pending.salt) {
            return pending
        }
        guard let nonce = Crypto.random(16), let salt = Crypto.random(16) else {
            throw RegistryError.unsuitable("this machine has no random octets: check that /dev/urandom can be read")
        }
        let pending = PendingRegistration(
            nonce: Hex.text(nonce), salt: salt, keyDigest: Self.digest(of: key, salt), endpoint: endpoint.text)
        try store.replace(StoredRegistration(pending: pending, drop: stored?.drop), keepsPrevious: stored?.client != nil)
        return pending
    }

    private static func digest(of key: String, _ salt: [UInt8]) -> String {
        Hex.text(Crypto.authenticationCode(Array(key.utf8), key: salt) ?? [])
    }
}
