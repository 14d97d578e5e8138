internal import CollectorCore
internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

extension Registry {
    /// Confirms this device's credentials: it gets a token for requests, the time for which tests may run, and what it may measure.
    ///
    /// There is seldom a reason to call it: ``ClientAPI`` does whenever it reaches the server.
    ///
    /// - Parameter adopt: says that this machine and this server's address are meant, although the registration was made for another
    ///   machine or at another address. The machine that had it before is refused from then on.
    /// - Throws: ``RegistryError``, or `CancellationError`. After ``RegistryError/Code/dropped`` the credentials are gone.
    @discardableResult
    public func authenticate(adopt: Bool = false) async throws -> AccessToken {
        let client = try credentials(adopt: adopt)
        let machine = try settings.machine.hash(salt: client.salt)
        guard machine == client.machine || adopt else { throw RegistryError.machineChanged }
        let bootID = try settings.machine.bootID()
        guard let random = Crypto.random(16) else {
            throw RegistryError.unsuitable("this machine has no random octets: check that /dev/urandom can be read")
        }
        let anchor = GrantAnchor(random: random, bootID: bootID, instant: settings.clock.now())
        guard let nonce = anchor.nonce else { throw RegistryError.unsuitable("this machine is out of memory") }
        var body: JSONObject = [
            "client_uuid": .string(client.uuid), "secret": .string(client.secret), "machine": .string(machine), "nonce": .string(nonce),
        ]
        if adopt { body["adopt"] = .bool(true) }
        let answer = try await connection.post("/authentications", body)
        guard answer.status == 200 else {
            let refusal = answer.refusal
            if let reason = refusal.dropReason { try drop(reason, client) }
            throw refusal
        }
        return try await accept(answer, anchor: anchor, nonce: nonce, client: client, machine: machine)
    }

    private func accept(
        _ answer: ServerConnection.Answer, anchor: GrantAnchor, nonce: String, client: StoredClient, machine: String
    ) async throws -> AccessToken {
        guard let text = answer.json["token"]?.string, !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let seconds = answer.json["token_expires_in"]?.int64, seconds > 0, seconds < 1 << 32, let signed = answer.json["grant"]?.string
        else { throw ServerConnection.unexpected(answer.status) }
        let grant: Grant
        do {
            grant = try Grant(verifying: signed, serverKey: client.serverKey)
            try grant.check(client: client.uuid, nonce: nonce, machine: machine)
        } catch {
            settings.logger.named("Registry").warning("a grant was refused", ("fault", error.rawValue))
            throw Standing.untrusted(error)
        }
        let serverTime = answer.json["server_time"]?.string.flatMap(Timestamp.init(iso8601:)).flatMap {
            ServerTime(server: $0, requestedAt: answer.requestedAt, answeredAt: answer.answeredAt, bootID: anchor.bootID)
        }
        let token = AccessToken(text: text, lifetime: .seconds(seconds), requestedAt: anchor.instant)
        memory.withLock { $0.token = (client.uuid, token) }
        let kept = StoredGrant(text: signed, anchor: anchor, meter: GrantMeter(anchor: anchor), serverTime: serverTime)
        try await locked {
            guard var stored = try store.load(), var current = stored.client, current.uuid == client.uuid, current.secret == client.secret
            else { throw RegistryError.notRegistered }
            // Of two authentications at the same time, the later one's grant is kept.
            if let other = stored.grant, other.anchor.bootID == anchor.bootID, other.anchor.instant > anchor.instant { return }
            current.machine = machine
            current.endpoint = endpoint.text
            current.label = grant.label
            current.tags = grant.tags
            stored.client = current
            stored.grant = kept
            stored.pending = nil
            stored.drop = nil
            try store.replace(stored)
        }
        settings.logger.named("Registry").info("authenticated", ("granted_seconds", "\(grant.granted.components.seconds)"))
        _ = try standing()
        return token
    }

    /// The token of the last authentication as long as it is good, else one of a new authentication.
    ///
    /// - Parameter refused: a token that the server has refused.
    func token(insteadOf refused: AccessToken? = nil) async throws -> AccessToken {
        let client = try credentials()
        func kept() -> AccessToken? {
            guard let kept = memory.withLock({ $0.token }), kept.client == client.uuid, kept.token != refused,
                kept.token.isFresh(at: settings.clock.now())
            else { return nil }
            return kept.token
        }
        if let token = kept() { return token }
        do {
            return try await authenticate()
        } catch let error as RegistryError where error.code == .unwritableState {
            // A full disk keeps no grant, and so lets no test run; reports still leave it, which makes room.
            guard let token = kept() else { throw error }
            return token
        }
    }
}
