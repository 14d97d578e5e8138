import CollectorTestKit
import DeviceRegistration
import LabSupport
import MeasurementModel
import ServerLab
import Testing

/// Uploads, tokens, and what the transport refuses (R-41, R-42, R-45).
@Suite struct ClientAPITests {
    static let report = Array(#"{"schema":"fieldprobe/report/1"}"#.utf8)

    private func word(_ outcome: UploadOutcome) -> String {
        switch outcome {
        case .stored: "stored"
        case .alreadyStored: "already stored"
        case .refusedForGood(let problem): "refused: \(problem.code)"
        case .retry(let error, let after): "retry: \(error.code)" + (after.map { " after \($0.components.seconds)" } ?? "")
        case .tokenRenewalFailed(let error): "no token: \(error.code)"
        case .dropped(let reason): "dropped: \(reason.code)"
        case .notRegistered: "not registered"
        }
    }

    @Test func storedOnce() async throws {
        try await withServer { api, device in
            let client = ClientAPI(registry: try await device.registered(api))
            #expect(word(try await client.uploadMeasurement(id: "m-1", body: Self.report)) == "stored")
            #expect(word(try await client.uploadMeasurement(id: "m-1", body: Self.report)) == "already stored")
            #expect(api.measurements == ["m-1": Self.report])
            #expect(api.requests("/measurements/m-1")[0].header("Content-Encoding") == nil)
            #expect(word(try await client.uploadMeasurement(id: "m-2", body: [0x1F, 0x8B], gzip: true)) == "stored")
            #expect(api.requests("/measurements/m-2")[0].header("Content-Encoding") == "gzip")
            // One token for all of them.
            #expect(api.requests("/authentications").count == 1)
        }
    }

    @Test(
        arguments: [
            (403, "kind_not_allowed", "refused: kind_not_allowed"), (409, "id_conflict", "refused: id_conflict"),
            (413, "document_too_large", "refused: document_too_large"), (422, "document_invalid", "refused: document_invalid"),
            (400, "invalid_request", "refused: invalid_request"), (429, "rate_limited", "retry: rate_limited after 9"),
            (500, "internal", "retry: server_failed after 9"), (503, "unavailable", "retry: server_failed after 9"),
            (403, "something_new", "retry: unexpected_answer"), (401, "token_expired", "no token: token_refused"),
            (409, "machine_changed", "no token: machine_changed"),
        ])
    func refused(_ status: Int, _ code: String, _ expected: String) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            api.change { $0.instead = { $0.method == "PUT" ? .problem(status, code, headers: ["Retry-After: 9"]) : nil } }
            let outcome = try await ClientAPI(registry: registry).uploadMeasurement(id: "m-1", body: Self.report)
            #expect(word(outcome) == expected)
            #expect(registry.isRegistrationValid())
        }
    }

    @Test(arguments: ["", "a/b", "../clients/self", "a b", "a?b", "ä"]) func anIDThatIsNone(_ id: String) async throws {
        try await withServer { api, device in
            let client = ClientAPI(registry: try await device.registered(api))
            #expect(word(try await client.uploadMeasurement(id: id, body: Self.report)) == "refused: invalid_id")
            #expect(api.requests.count == 2)
        }
    }

    @Test func withoutARegistration() async throws {
        try await withServer { api, device in
            let client = ClientAPI(registry: device.registry(api))
            let outcome = try await client.uploadMeasurement(id: "m-1", body: Self.report)
            #expect(word(outcome) == "not registered")
            #expect(api.requests.isEmpty)
        }
    }

    @Test func aRefusedTokenIsRenewedOnce() async throws {
        try await withServer { api, device in
            let client = ClientAPI(registry: try await device.registered(api))
            api.expireTokens()
            #expect(word(try await client.uploadMeasurement(id: "m-1", body: Self.report)) == "stored")
            #expect(api.requests("/authentications").count == 2)
            #expect(api.requests("/measurements/m-1").count == 2)
            // Where the new one is refused, too, that is the end of it.
            api.change { $0.instead = { $0.method == "PUT" ? .problem(401, "token_invalid") : nil } }
            #expect(word(try await client.uploadMeasurement(id: "m-2", body: Self.report)) == "no token: token_refused")
            #expect(api.requests("/measurements/m-2").count == 2)
            #expect(api.requests("/authentications").count == 3)
        }
    }

    /// P91: a wrong wall clock neither keeps a token nor loses it.
    @Test(arguments: GrantTimeTests.steps) func aTokensAgeIsNoMatterOfTheWallClock(_ step: Duration) async throws {
        try await withServer { api, device in
            let client = ClientAPI(registry: try await device.registered(api))
            device.stepClock(by: step)
            _ = try await client.uploadMeasurement(id: "m-1", body: Self.report)
            #expect(api.requests("/authentications").count == 1)
            device.advance(by: .seconds(871))
            _ = try await client.uploadMeasurement(id: "m-2", body: Self.report)
            #expect(api.requests("/authentications").count == 2)
        }
    }

    @Test(arguments: ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
    func noRedirectIsFollowed(_ status: String) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let elsewhere = try FakeClientAPI()
            defer { elsewhere.stop() }
            let target = elsewhere.apiEndpoint
            api.change {
                $0.instead = { .raw("HTTP/1.1 \(status)\r\nLocation: \(target)\($0.path)\r\nContent-Length: 0\r\n\r\n") }
            }
            #expect(await registryError { try await registry.authenticate() }?.code == .redirected)
            #expect(word(try await ClientAPI(registry: registry).uploadMeasurement(id: "m-1", body: Self.report)) == "retry: redirected")
            #expect(elsewhere.requests.isEmpty)
        }
    }

    @Test func anAnswerWithoutEnd() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let flood = String(repeating: "x", count: 300_000)
            api.change { $0.instead = { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + flood) } }
            #expect(await registryError { try await registry.authenticate() }?.code == .answerTooLarge)
        }
    }

    @Test func nobodyListens() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            api.stop()
            let outcome = try await ClientAPI(registry: registry).uploadMeasurement(id: "m-1", body: Self.report)
            #expect(word(outcome) == "retry: unreachable" && !outcome.isFinal)
            #expect(registry.isRegistrationValid())
        }
    }

    @Test func aGrantThatCannotBeTrusted() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let foreign = SigningKey()
            let changes: [@Sendable (inout FakeClientAPI.Behaviour) -> Void] = [
                { $0.grant = { _ in foreign.jws(.object(["v": .integer(1)])) } }, { $0.claims = { $0["nonce"] = .string("old") } },
                { $0.claims = { $0["machine"] = .string("other") } }, { $0.claims = { $0["granted_seconds"] = .integer(0) } },
                { $0.grant = { String($0.dropLast()) } },
            ]
            for change in changes {
                api.change { behaviour in
                    behaviour = FakeClientAPI.Behaviour()
                    change(&behaviour)
                }
                #expect(await registryError { try await registry.authenticate() }?.code == .untrustedGrant)
                #expect(try registry.confirmation().left == .seconds(3600))
            }
        }
    }

    @Test func anOldAnswerIsNoAnswer() async throws {
        try await withServer { api, device in
            let registry = device.registry(api)
            let old = Collected<String>()
            api.change {
                $0.grant = {
                    old.add($0)
                    return $0
                }
            }
            try await registry.registerClient(registrationKey: "good-key")
            api.change { $0.grant = { _ in old.values[0] } }
            #expect(await registryError { try await registry.authenticate() }?.code == .untrustedGrant)
        }
    }

    @Test func noSecretIsEverLogged() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let client = ClientAPI(registry: registry)
            _ = try await client.uploadMeasurement(id: "m-1", body: Self.report)
            api.expireTokens()
            _ = try await client.uploadMeasurement(id: "m-2", body: Self.report)
            let token = try await registry.authenticate()
            api.change { $0.claims = { $0["nonce"] = .string("old") } }
            _ = await registryError { try await registry.authenticate() }
            api.change { $0.claims = { _ in } }
            let secret = api.clients[0].secret
            api.refuse("client_disabled")
            let error = await registryError { try await registry.authenticate() }
            let shown = device.log.lines.map(\.text) + ["\(token)", "\(String(reflecting: token))", "\(error as Any)"]
            var dumped = ""
            dump(token, to: &dumped)
            #expect(!device.log.lines.isEmpty)
            for text in shown + [dumped] {
                #expect(!text.contains(secret) && !text.contains(token.text) && !text.contains("good-key"))
                #expect(!text.contains("token-") && !text.contains("Bearer"))
            }
        }
    }
}
