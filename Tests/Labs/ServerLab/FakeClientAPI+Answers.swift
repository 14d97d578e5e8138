internal import MeasurementModel
internal import Synchronization

/// What the server of the wire's description answers.
extension FakeClientAPI {
    func respond(to request: Request, _ behaviour: Behaviour) -> Answer {
        switch (request.method, request.path) {
        case ("POST", "/registrations"): return register(request, behaviour)
        case ("POST", "/authentications"): return authenticate(request, behaviour)
        case ("DELETE", "/clients/self"):
            return withClient(request) { client in
                state.withLock { $0.clients.removeAll { $0.uuid == client.uuid } }
                return .json(204, .null)
            }
        case ("PUT", let path) where path.hasPrefix("/measurements/"):
            return withClient(request) { _ in
                let id = String(path.dropFirst("/measurements/".count))
                let isNew = state.withLock { $0.measurements.updateValue(request.octets, forKey: id) == nil }
                return isNew
                    ? .json(201, .object(["id": .string(id)]))
                    : .json(200, .object(["id": .string(id), "already_stored": .bool(true)]))
            }
        default: return .problem(404, "not_found")
        }
    }

    private func register(_ request: Request, _ behaviour: Behaviour) -> Answer {
        guard request.json["registration_key"]?.string == "good-key", let machine = request.json["machine"]?.string,
            let nonce = request.json["nonce"]?.string, machine.utf8.count == 64, nonce.utf8.count == 32
        else { return .problem(403, "key_unknown") }
        let client = state.withLock { state in
            if let client = state.clients.first(where: { $0.registrationNonce == nonce }) { return client }
            let client = Client(
                uuid: "client-\(state.clients.count + 1)", secret: SigningKey.base64(SigningKey.random(32)), machine: machine,
                label: request.json["label"]?.string, tags: request.json["tags"]?.array?.compactMap(\.string) ?? [],
                registrationNonce: nonce)
            state.clients.append(client)
            return client
        }
        return .json(
            201,
            .object([
                "client_uuid": .string(client.uuid), "secret": .string(client.secret),
                "server_key": .string(SigningKey.base64(key.publicKey)),
                "server_time": .string(Timestamp(milliseconds: behaviour.now()).description),
            ]))
    }

    private func authenticate(_ request: Request, _ behaviour: Behaviour) -> Answer {
        guard let client = clients.first(where: { $0.uuid == request.json["client_uuid"]?.string }),
            client.secret == request.json["secret"]?.string
        else { return .problem(401, "unknown_credentials") }
        if let refusal = client.refusal { return .problem(403, refusal, detail: "as the administrator says") }
        let machine = request.json["machine"]?.string ?? ""
        guard machine == client.machine || request.json["adopt"] == .bool(true) else { return .problem(409, "machine_changed") }
        let token = "token-" + SigningKey.base64(SigningKey.random(12))
        state.withLock { state in
            if let index = state.clients.firstIndex(where: { $0.uuid == client.uuid }) { state.clients[index].machine = machine }
            state.tokens[token] = client.uuid
        }
        var claims: JSONObject = [
            "v": .integer(1), "client_uuid": .string(client.uuid), "nonce": request.json["nonce"] ?? .null, "machine": .string(machine),
            "granted_seconds": .integer(behaviour.grantedSeconds), "issued_at": .integer(behaviour.now() / 1000),
        ]
        claims["capability"] = behaviour.capability
        claims["label"] = client.label.map(JSONValue.string)
        claims["tags"] = client.tags.isEmpty ? nil : .strings(client.tags)
        behaviour.claims(&claims)
        var answer: JSONObject = [
            "token": .string(token), "token_expires_in": .integer(behaviour.tokenLifetime),
            "grant": .string(behaviour.grant(key.jws(.object(claims)))),
            "server_time": .string(Timestamp(milliseconds: behaviour.now()).description),
            "client": .object(["client_uuid": .string(client.uuid)]),
        ]
        answer["capability"] = behaviour.capability
        return .json(200, .object(answer))
    }

    private func withClient(_ request: Request, _ body: (Client) -> Answer) -> Answer {
        let token = request.header("Authorization").flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        guard let token, let uuid = state.withLock({ $0.tokens[token] }) else { return .problem(401, "token_expired") }
        guard let client = clients.first(where: { $0.uuid == uuid }) else { return .problem(401, "unknown_credentials") }
        if let refusal = client.refusal { return .problem(403, refusal, detail: "as the administrator says") }
        return body(client)
    }
}
