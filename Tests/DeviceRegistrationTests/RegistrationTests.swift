import DeviceRegistration
import Glibc
import LabSupport
import MeasurementModel
import ServerLab
import Testing

/// Registering: what is sent, what is stored, what the registry then says of itself, and that no slot is taken twice (R-28, R-30, R-37).
@Suite struct RegistrationTests {
    @Test func registersAndIsConfirmedAtOnce() async throws {
        try await withServer { api, device in
            let registry = Registry(apiEndpoint: api.apiEndpoint + "/", settings: device.settings())
            #expect(registry.apiEndpoint == api.apiEndpoint)
            #expect(try registry.state == .neverRegistered)
            #expect(!registry.isClientRegistered() && !registry.isRegistrationValid() && registry.getClientUuid() == nil)

            try await registry.registerClient(registrationKey: "good-key", label: "van 7", tags: ["fleet", "north"])
            #expect(try registry.state == .confirmed)
            #expect(registry.isClientRegistered() && registry.isRegistrationValid())
            #expect(registry.getClientUuid() == "client-1")
            #expect(registry.getCapability() == nil)

            #expect(api.requests.map(\.path) == ["/registrations", "/authentications"])
            let sent = api.requests[0].json
            #expect(sent["label"] == .string("van 7") && sent["tags"] == .strings(["fleet", "north"]))
            #expect(sent["machine"]?.string?.contains("machine-a") == false)
            let confirmation = try registry.confirmation()
            #expect(confirmation.label == "van 7" && confirmation.tags == ["fleet", "north"])
            #expect(confirmation.left == .seconds(3600))
        }
    }

    @Test func theFilesAreTheOwnersAndHoldNoRegistrationKey() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            func mode(_ path: String) -> mode_t {
                var facts = stat()
                return stat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
            }
            #expect(mode(device.stateFolder) == 0o700)
            #expect(mode(device.currentFile) == 0o600 && mode(device.previousFile) == 0o600)
            let stored = try device.everythingStored()
            #expect(!stored.contains("good-key"))
        }
    }

    @Test func theStateOutlivesTheProgram() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            let next = device.registry(api)
            #expect(next.isRegistrationValid() && next.getClientUuid() == "client-1")
        }
    }

    /// A lost answer: the server has taken a slot, and the device does not know.
    @Test func aLostAnswerTakesNoSecondSlot() async throws {
        try await withServer { api, device in
            api.change { $0.afterwards = { $0.path == "/registrations" ? .hangUp : $1 } }
            let error = await registryError { try await device.registry(api).registerClient(registrationKey: "good-key") }
            #expect(error?.code == .unreachable && error?.retry == .later(after: nil))
            #expect(try device.registry(api).state == .neverRegistered)
            api.change { $0.afterwards = { $1 } }
            // Not even after a restart of the program and of the machine.
            device.restart()
            try await device.registry(api).registerClient(registrationKey: "good-key")
            #expect(api.clients.count == 1)
            #expect(Set(api.requests("/registrations").map { $0.json["nonce"] }).count == 1)
        }
    }

    @Test func anotherKeyIsAnotherRegistration() async throws {
        try await withServer { api, device in
            api.change { $0.afterwards = { $0.path == "/registrations" ? .hangUp : $1 } }
            _ = await registryError { try await device.registry(api).registerClient(registrationKey: "wrong-key") }
            api.change { $0.afterwards = { $1 } }
            try await device.registry(api).registerClient(registrationKey: "good-key")
            #expect(Set(api.requests("/registrations").map { $0.json["nonce"] }).count == 2)
        }
    }

    @Test func successIsToldOnlyOnceTheServerHasConfirmed() async throws {
        try await withServer { api, device in
            api.change { $0.instead = { $0.path == "/authentications" ? .problem(503, "unavailable") : nil } }
            let registry = device.registry(api)
            let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            #expect(error?.code == .serverFailed)
            #expect(try registry.state == .registered)
            #expect(registry.isClientRegistered() && !registry.isRegistrationValid())
            // Trying again goes on with the credentials that are there.
            api.change { $0.instead = { _ in nil } }
            try await device.registry(api).registerClient(registrationKey: "good-key")
            #expect(registry.isRegistrationValid())
            #expect(api.clients.count == 1 && api.requests("/registrations").count == 1)
        }
    }

    @Test func aRegisteredDeviceTakesNoSecondSlot() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            device.advance(by: .seconds(7200))
            #expect(try registry.state == .registered)
            let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            #expect(error?.code == .alreadyRegistered)
            #expect(api.requests("/registrations").count == 1)
        }
    }

    @Test func twoProcessesAtOnceTakeOneSlot() async throws {
        try await withServer { api, device in
            let outcomes = await withTaskGroup(of: RegistryError.Code?.self) { group in
                for _ in 0..<4 {
                    let registry = device.registry(api)
                    group.addTask { await registryError { try await registry.registerClient(registrationKey: "good-key") }?.code }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(api.clients.count == 1)
            #expect(outcomes.allSatisfy { $0 == nil || $0 == .alreadyRegistered })
            #expect(outcomes.contains(nil))
        }
    }

    @Test(
        arguments: [
            (403, "key_unknown", RegistryError.Code.keyUnknown), (403, "key_not_yet_valid", .keyNotYetValid),
            (403, "key_expired", .keyExpired), (403, "key_exhausted", .keyExhausted), (403, "key_revoked", .keyRevoked),
            (409, "label_taken", .labelTaken), (422, "invalid_request", .invalidRequest), (403, "something_new", .unexpectedAnswer),
        ])
    func refusedForGood(_ status: Int, _ problem: String, _ code: RegistryError.Code) async throws {
        try await withServer { api, device in
            api.change { $0.instead = { _ in .problem(status, problem, detail: "the server's advice") } }
            let registry = device.registry(api)
            let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            #expect(error?.code == code && error?.retry == .never)
            #expect(error?.description.contains("the server's advice") == true)
            #expect(try registry.state == .neverRegistered)
            // The next try is a new one.
            api.change { $0.instead = { _ in nil } }
            try await registry.registerClient(registrationKey: "good-key")
            #expect(Set(api.requests("/registrations").map { $0.json["nonce"] }).count == 2)
        }
    }

    @Test func theServerAsksForPatience() async throws {
        try await withServer { api, device in
            api.change { $0.instead = { _ in .problem(429, "rate_limited", headers: ["Retry-After: 17"]) } }
            let registry = device.registry(api)
            let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            #expect(error?.code == .rateLimited && error?.retry == .later(after: .seconds(17)))
        }
    }

    @Test(arguments: [
        #"{"client_uuid":"u"}"#, #"{"client_uuid":"u","secret":"c2hvcnQ","server_key":"c2hvcnQ"}"#, "<html>sign in</html>", "[]", "",
    ])
    func anAnswerThatIsNone(_ body: String) async throws {
        try await withServer { api, device in
            let length = body.utf8.count
            api.change { $0.instead = { _ in .raw("HTTP/1.1 201 Created\r\nContent-Length: \(length)\r\n\r\n\(body)") } }
            let registry = device.registry(api)
            let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            #expect(error?.code == .unexpectedAnswer)
            let state = try registry.state
            #expect(state == .neverRegistered)
        }
    }

    @Test func withCompletionHandlers() async throws {
        try await withServer { api, device in
            let registry = device.registry(api)
            func result<Value: Sendable>(_ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void) async throws -> Value {
                try await withCheckedThrowingContinuation { continuation in call { continuation.resume(with: $0) } }
            }
            try await result { registry.registerClient(registrationKey: "good-key", label: "a", tags: ["b"], completion: $0) }
            #expect(registry.isRegistrationValid())
            let token = try await result { registry.authenticate(completion: $0) }
            #expect(token.text.hasPrefix("token-"))
            try await result { registry.unregisterClient(completion: $0) }
            #expect(!registry.isClientRegistered() && api.clients.isEmpty)
            let error = await registryError { try await result { registry.authenticate(completion: $0) } as AccessToken }
            #expect(error?.code == .notRegistered)
        }
    }

    @Test(
        arguments: [
            ("", RegistryError.Code.invalidEndpoint), ("nonsense", .invalidEndpoint), ("ftp://server/client_api/v1", .invalidEndpoint),
            ("https://user:word@server/", .invalidEndpoint), ("https://server/?a=b", .invalidEndpoint),
            ("http://server.example/client_api/v1", .insecureEndpoint), ("http://192.0.2.1/", .insecureEndpoint),
        ])
    func addressesThatAreNotTalkedTo(_ address: String, _ code: RegistryError.Code) async throws {
        let device = try Device()
        let registry = Registry(apiEndpoint: address, settings: device.settings())
        let error = await registryError { try await registry.registerClient(registrationKey: "k") }
        #expect(error?.code == code)
        #expect(try device.everythingStored().isEmpty)
    }
}
