internal import MeasurementModel
internal import ProbeLog

extension ClientAPI {
    func authenticate(_ request: ServerRequest) throws -> ServerResponse {
        try service.pass(service.authenticationsByPeer, request.peer)
        let document = try RequestDocument(request.body)
        let uuid = try document.text("client_uuid", upTo: 36)
        let secret = try document.text("secret", upTo: 256)
        let machine = try document.hex("machine", digits: 64)
        let nonce = try document.hex("nonce", digits: 32)
        let adopts = try document.flag("adopt")
        // Together with the address: a stranger who has seen the UUID must not keep the device out.
        try service.pass(service.authenticationsByClient, "\(uuid) \(request.peer)")

        let now = service.now()
        // A UUID that is not there is answered without a hash, and sooner: its 122 random bits cannot be searched.
        guard var client = try service.store.client(uuid, now: now), SecretHash.matches(secret, client.secret) else {
            throw Problem(.unknownCredentials)
        }
        // Only whoever knows the secret learns more.
        try Self.requireActive(client)
        if client.machine != machine {
            guard adopts else { throw Problem(.machineChanged) }
            try service.store.adopt(uuid, machine: machine)
            client.machine = machine
            service.log.warning("a client's identity was adopted by another machine", ("client", uuid))
        }
        try service.store.markSeen(uuid, now: now)
        let key = try service.store.key(client.keyID, now: now)
        let capability = try key?.capability.flatMap { try service.store.capability($0) }
        return answer(client, key, capability, nonce, now)
    }

    private func answer(
        _ client: Client, _ key: RegistrationKey?, _ capability: Capability?, _ nonce: String, _ now: Timestamp
    ) -> ServerResponse {
        let grant = Grant(client: client, key: key, capability: capability, nonce: nonce, now: now)
        var who: JSONObject = ["client_uuid": .string(client.uuid)]
        who["label"] = client.label.map { .string($0) }
        if !client.tags.isEmpty { who["tags"] = .strings(client.tags) }
        var answer: JSONObject = [
            "token": .string(service.tokens.issue(.init(clientUUID: client.uuid, machine: client.machine), now: now)),
            "token_expires_in": .integer(service.tokens.lifetime), "grant": .string(grant.signed(by: service.secrets.signingKey)),
            "server_time": .string(now.description), "client": .object(who),
        ]
        answer["capability"] = capability?.json
        return .json(200, answer)
    }
}
