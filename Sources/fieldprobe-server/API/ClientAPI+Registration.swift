internal import MeasurementModel
internal import ProbeLog

extension ClientAPI {
    func register(_ request: ServerRequest) throws -> ServerResponse {
        try service.pass(service.registrationsByPeer, request.peer)
        let document = try RequestDocument(request.body)
        let keyText = try document.text("registration_key", upTo: 256)
        let label = try document.optionalText("label", upTo: 200)
        let tags = try document.texts("tags", count: 50, upTo: 100)
        let machine = try document.hex("machine", digits: 64)
        let nonce = try document.hex("nonce", digits: 32)
        guard let keyID = KeyText.id(of: keyText) else { throw Problem(.keyUnknown) }

        // The device's secret follows from the request: whoever repeats it gets the same one, and only its hash is kept.
        let seed = [keyText, nonce, machine].joined(separator: "\u{0}")
        let secret = Base64.urlText(Hash.hmac(key: service.secrets.deviceKey, Array(seed.utf8)))
        let registration = Registration(
            keyID: keyID, keyHash: Hash.sha256(keyText), label: label, tags: tags, machine: machine, nonce: Hash.sha256(nonce))
        let now = service.now()
        var outcome = try service.store.check(registration, now: now)
        if outcome == .open {
            // Counted only for whoever has the whole key: a stranger who has seen its public part must not use it up.
            try service.pass(service.registrationsByKey, keyID)
            let hash = SecretHash.make(secret, cost: .device)
            outcome = try service.store.register(registration, secret: hash, now: now)
        }
        switch outcome {
        case .registered(let uuid):
            service.log.info("client registered", ("client", uuid), ("key", keyID))
            return answer(uuid, secret, now)
        case .repeated(let uuid): return answer(uuid, secret, now)
        case .refused(let refusal): throw Self.problem(refusal)
        case .open: throw Problem(.internalError)
        }
    }

    private func answer(_ uuid: String, _ secret: String, _ now: Timestamp) -> ServerResponse {
        .json(
            201,
            [
                "client_uuid": .string(uuid), "secret": .string(secret),
                "server_key": .string(Base64.urlText(service.secrets.signingKey.publicKey)), "server_time": .string(now.description),
            ])
    }

    private static func problem(_ refusal: RegistrationOutcome.Refusal) -> Problem {
        switch refusal {
        case .keyUnknown: Problem(.keyUnknown)
        case .keyRevoked: Problem(.keyRevoked)
        case .keyNotYetValid: Problem(.keyNotYetValid)
        case .keyExpired: Problem(.keyExpired)
        case .keyExhausted: Problem(.keyExhausted)
        case .labelTaken: Problem(.labelTaken)
        case .nonceOfAnotherMachine: Problem(.invalidRequest, "'nonce' was used before: it must be random, and new for each registration.")
        }
    }
}
