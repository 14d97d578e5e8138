import DeviceRegistration
import LabSupport
import MeasurementModel
import ServerLab
import Testing

/// R-33, R-34, R-46: how a registration is lost, and that everybody hears of it through one place.
@Suite struct LossTests {
    static let reasons: [(Int, String, DropReason)] = [
        (401, "unknown_credentials", .unknownCredentials), (403, "usage_window_elapsed", .usageWindowElapsed),
        (403, "client_disabled", .clientDisabled(why: "as the administrator says")),
    ]

    enum Way: CaseIterable { case authentication, upload, unregistering }

    @Test(arguments: reasons, Way.allCases)
    func dropped(_ reason: (status: Int, code: String, reason: DropReason), _ way: Way) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let secret = api.clients[0].secret
            let losses = Collected<RegistrationLoss>()
            registry.whenLost { losses.add($0) }
            #expect(losses.values.isEmpty)
            api.change { $0.instead = { _ in .problem(reason.status, reason.code, detail: "as the administrator says") } }
            switch way {
            case .authentication:
                let error = await registryError { try await registry.authenticate() }
                #expect(error?.code == .dropped && error?.dropReason == reason.reason)
            case .upload:
                guard case .dropped(let told) = try await ClientAPI(registry: registry).uploadMeasurement(id: "m-1", body: [0x7B, 0x7D])
                else {
                    Issue.record("not dropped")
                    return
                }
                #expect(told == reason.reason)
            case .unregistering:
                #expect(await registryError { try await registry.unregisterClient() }?.dropReason == reason.reason)
            }
            #expect(losses.values == [RegistrationLoss(cause: .dropped(reason.reason), clientUUID: "client-1")])
            #expect(try registry.state == .dropped(reason.reason))
            #expect(!registry.isClientRegistered() && !registry.isRegistrationValid() && registry.getClientUuid() == nil)
            let stored = try device.everythingStored()
            #expect(!stored.contains(secret))
            // The state outlives the program and the machine's restart.
            device.restart()
            let next = device.registry(api)
            #expect(try next.state == .dropped(reason.reason))
            #expect(await registryError { try next.confirmation() }?.dropReason == reason.reason)

            // Nothing is sent any more.
            let sent = api.requests.count
            guard case .dropped = try await ClientAPI(registry: next).uploadMeasurement(id: "m-2", body: [0x7B, 0x7D]) else {
                Issue.record("sent without a registration")
                return
            }
            #expect(api.requests.count == sent)
        }
    }

    @Test(arguments: reasons) func registeringAgain(_ reason: (status: Int, code: String, reason: DropReason)) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            api.refuse(reason.code == "unknown_credentials" ? nil : reason.code)
            if reason.code == "unknown_credentials" { api.removeClients() }
            _ = await registryError { try await registry.authenticate() }
            let before = api.requests("/registrations").count
            if reason.reason.allowsRegisteringAgain {
                try await registry.registerClient(registrationKey: "good-key")
            } else {
                let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
                #expect(error?.code == .registeringAgainRefused && error?.dropReason == reason.reason)
                #expect(api.requests("/registrations").count == before)
                // Clearing is no way around it.
                try registry.clearRegistrationInfo()
                #expect(
                    await registryError { try await registry.registerClient(registrationKey: "good-key") }?.code == .registeringAgainRefused
                )
                try await registry.registerClient(registrationKey: "good-key", force: true)
            }
            #expect(registry.isRegistrationValid())
        }
    }

    /// What a hotel's sign-in page or a proxy answers is not the server's word.
    @Test(arguments: [
        "401 Unauthorized", "403 Forbidden", "404 Not Found", "407 Proxy Authentication Required", "200 OK", "500 Error", "204 No Content",
    ])
    func somebodyElsesAnswerCostsNothing(_ status: String) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let body = #"{"code":"client_disabled"}"#
            api.change {
                $0.instead = { _ in
                    status.hasPrefix("204")
                        ? .raw("HTTP/1.1 204 No Content\r\n\r\n")
                        : .raw("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
            let error = await registryError { try await registry.authenticate() }
            #expect(error?.code == .unexpectedAnswer || error?.code == .serverFailed)
            #expect(registry.isRegistrationValid())
        }
    }

    @Test func cleared() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let losses = Collected<RegistrationLoss>()
            registry.whenLost { losses.add($0) }
            try registry.clearRegistrationInfo()
            #expect(losses.values == [RegistrationLoss(cause: .cleared, clientUUID: "client-1")])
            #expect(try registry.state == .neverRegistered)
            // The slot stays taken.
            #expect(api.clients.count == 1)
        }
    }

    @Test func unregistered() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let losses = Collected<RegistrationLoss>()
            registry.whenLost { losses.add($0) }
            try await registry.unregisterClient()
            #expect(losses.values == [RegistrationLoss(cause: .unregistered, clientUUID: "client-1")])
            #expect(try registry.state == .neverRegistered && api.clients.isEmpty)
        }
    }

    @Test func anUnansweredUnregisteringChangesNothing() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            api.change { $0.instead = { $0.method == "DELETE" ? .hangUp : nil } }
            #expect(await registryError { try await registry.unregisterClient() }?.code == .unreachable)
            #expect(registry.isRegistrationValid())
        }
    }

    @Test func whatAnotherProcessDoesIsNoticed() async throws {
        try await withServer { api, device in
            let agent = try await device.registered(api)
            let losses = Collected<RegistrationLoss>()
            agent.whenLost { losses.add($0) }
            api.refuse("client_disabled")
            _ = await registryError { try await device.registry(api).authenticate() }
            #expect(!agent.isRegistrationValid())
            #expect(losses.values.map(\.clientUUID) == ["client-1"])
        }
    }

    /// A queue that was not cleared because the program died is cleared at the next start.
    @Test func aLossThatNobodyHeardIsToldLater() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            api.refuse("usage_window_elapsed")
            _ = await registryError { try await registry.authenticate() }
            let losses = Collected<RegistrationLoss>()
            device.registry(api).whenLost { losses.add($0) }
            #expect(losses.values == [RegistrationLoss(cause: .dropped(.usageWindowElapsed), clientUUID: "client-1")])
        }
    }

    @Test func unreadableFilesAreNoLoss() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            try device.folder.write("state/registration.json", "damaged")
            try device.folder.write("state/registration.previous.json", "damaged")
            let losses = Collected<RegistrationLoss>()
            device.registry(api).whenLost { losses.add($0) }
            #expect(losses.values.isEmpty)
        }
    }

    @Test func theStatesInTheirOrder() async throws {
        try await withServer { api, device in
            let registry = device.registry(api)
            var states = registry.stateChanges().makeAsyncIterator()
            #expect(await states.next() == .neverRegistered)
            try await registry.registerClient(registrationKey: "good-key")
            #expect(await states.next() == .registered)
            #expect(await states.next() == .confirmed)
            api.refuse("usage_window_elapsed")
            _ = await registryError { try await registry.authenticate() }
            #expect(await states.next() == .dropped(.usageWindowElapsed))
        }
    }
}
