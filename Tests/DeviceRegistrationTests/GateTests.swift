import CollectorCore
import DeviceRegistration
import LabSupport
import MeasurementModel
import QualityTests
import ServerLab
import Testing

/// a test is refused before anything is started, and the refusal says what to do.
@Suite struct GateTests {
    private func refusal(_ registry: Registry, _ type: String = "WEB", _ subject: String = "website") -> (any Error)? {
        do {
            _ = try QualityTest(type: type, subject: subject, registry: registry)
            return nil
        } catch {
            return error
        }
    }

    @Test func onlyWhileTheServersConfirmationLasts() async throws {
        try await withServer { api, device in
            let registry = device.registry(api)
            #expect((refusal(registry) as? TestRefusal)?.code == .notRegistered)
            api.change { $0.instead = { $0.path == "/authentications" ? .hangUp : nil } }
            _ = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            // Credentials alone are not enough.
            #expect((refusal(registry) as? TestRefusal)?.code == .confirmationExpired)
            api.change { $0.instead = { _ in nil } }
            try await registry.authenticate()
            #expect(refusal(registry) == nil)
            device.advance(by: .seconds(3600))
            #expect((refusal(registry) as? TestRefusal)?.code == .confirmationExpired)
            api.refuse("client_disabled")
            _ = await registryError { try await registry.authenticate() }
            #expect((refusal(registry) as? RegistryError)?.dropReason == .clientDisabled(why: "as the administrator says"))
        }
    }

    @Test func onlyWithinTheCapability() async throws {
        try await withServer { api, device in
            api.change { $0.capability = .object(["allow_types": .strings(["WEB"]), "forbid_subjects": .strings(["secret"])]) }
            let registry = try await device.registered(api)
            #expect(registry.getCapability() == Capability(allowedTypes: ["WEB"], forbiddenSubjects: ["secret"]))
            #expect(refusal(registry) == nil)
            let error = refusal(registry, "VIDEO", "avplayer") as? TestRefusal
            #expect(error?.code == .forbidden)
            #expect(error?.message.contains("'VIDEO'") == true && error?.message.contains("'avplayer'") == true)
            #expect((refusal(registry, "WEB", "secret") as? TestRefusal)?.code == .forbidden)
            // A change by the administrator takes effect with the next authentication.
            api.change { $0.capability = nil }
            try await registry.authenticate()
            #expect(registry.getCapability() == nil && refusal(registry, "VIDEO", "avplayer") == nil)
        }
    }

    /// Between being built and being run, a test may lose its right.
    @Test func askedAgainWhenTheTestStarts() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            let test = try QualityTest(type: "WEB", subject: "website", registry: registry)
            try registry.clearRegistrationInfo()
            await #expect(throws: TestRefusal.self) { try await test.run { _ in "never" } }
        }
    }

    @Test func theReportNamesTheClientAndTheServersTime() async throws {
        try await withServer { api, device in
            api.change { [device] in $0.now = { device.wall().milliseconds + 1500 } }
            let registry = device.registry(api)
            try await registry.registerClient(registrationKey: "good-key", label: "van 7", tags: ["fleet"])
            var settings = QualityTest.Settings()
            settings.collectors.clock = device
            let test = try QualityTest(type: "WEB", subject: "website", registry: registry, settings: settings)
            let report = try await test.run { _ in "done" }
            #expect(report.client == Report.Client(uuid: "client-1", label: "van 7", tags: ["fleet"]))
            #expect(report.clockOffset == .milliseconds(1500))
            #expect(report.json["started_at_skewed"] == .string(report.startedAt.adding(milliseconds: 1500).description))
        }
    }
}
