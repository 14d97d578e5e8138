import LabSupport
import MeasurementModel
import Testing

@testable import fieldprobe_server

extension ServerSuites {
    /// R-31, R-32, R-33, R-37: confirmation, its length, and clones.
    @Suite struct AuthenticationTests {
        @Test func aGrantIsSignedAndAnswersItsRequest() async throws {
            try await ServerProcess.with { server in
                try server.admin(
                    "capability", "create", "web", "--allow-type", "WEB", "--forbid-subject", "secret")
                let key = try server.key("--capability", "web")
                var device = Device(server: server)
                let registration = try device.register(key, label: "roof")
                let nonce = Device.hex(32)
                let answer = try #require(device.authenticate(nonce: nonce).json)
                let publicKey = try #require(Base64.octets(url: registration.json?["server_key"]?.string ?? ""))
                let grant = try Signed(device.grant, publicKey: publicKey)
                #expect(grant.header.text() == #"{"alg":"EdDSA","typ":"JWT"}"#)
                #expect(grant.payload["v"]?.int64 == 1)
                #expect(grant.payload["client_uuid"]?.string == device.uuid)
                #expect(grant.payload["nonce"]?.string == nonce)
                #expect(grant.payload["machine"]?.string == device.machine)
                #expect(grant.payload["granted_seconds"]?.int64 == 604_800)
                #expect(grant.payload["label"]?.string == "roof")
                #expect(grant.payload["capability"]?["allow_types"]?[0]?.string == "WEB")
                #expect(answer["capability"] == grant.payload["capability"])
                #expect(answer["client"]?["label"]?.string == "roof")
                #expect(answer["token_expires_in"]?.int64 == 900)
                // A change of the capability reaches the device without a new registration.
                try server.admin("capability", "create", "web", "--replace", "--allow-type", "VIDEO")
                #expect(try device.authenticate().json?["capability"]?["allow_types"]?[0]?.string == "VIDEO")
            }
        }

        @Test func theServersKeyOutlivesItsProcess() async throws {
            try await blocking {
                let first = try ServerProcess()
                let key = try first.key()
                var device = Device(server: first)
                let before = try device.register(key).json?["server_key"]
                #expect(first.stop() == 0)
                let second = try ServerProcess(folder: first.folder)
                defer { second.stop() }
                var other = Device(server: second)
                #expect(try other.register(key).json?["server_key"] == before)
                var same = Device(server: second, machine: device.machine, uuid: device.uuid, secret: device.secret)
                #expect(try same.authenticate().status == 200)
            }
        }

        @Test func wrongCredentialsAreUnknown() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                var wrong = device
                wrong.secret = String(device.secret.dropLast()) + (device.secret.hasSuffix("A") ? "E" : "A")
                #expect(try wrong.authenticate().code == "unknown_credentials")
                wrong = device
                wrong.uuid = Device.id()
                #expect(try wrong.authenticate().code == "unknown_credentials")
                wrong = device
                wrong.machine = "UPPER"
                #expect(try wrong.authenticate().code == "invalid_request")
            }
        }

        @Test func aDisabledClientIsToldWhy() async throws {
            try await ServerProcess.with { server in
                var device = try Device.ready(server, key: server.key("--devices", "1"))
                try server.admin("client", "disable", String(device.uuid.prefix(8)), "--reason", "Stolen")
                let refusal = try device.authenticate()
                #expect(refusal.code == "client_disabled")
                #expect(refusal.json?["detail"]?.string == "Stolen")
                #expect(try device.upload(Device.report(Device.id())).code == "client_disabled")
                #expect(try device.unregister().code == "client_disabled")
                // Whoever does not know the secret is not told.
                var stranger = device
                stranger.secret = "x"
                #expect(try stranger.authenticate().code == "unknown_credentials")
                try server.admin("client", "enable", device.uuid)
                #expect(try device.authenticate().status == 200)
            }
        }

        /// Two machines must not report under one identity.
        @Test func aCloneIsNoticedAndAnAdoptionEndsTheOther() async throws {
            try await ServerProcess.with { server in
                let original = try Device.ready(server, key: server.key())
                var clone = original
                clone.machine = Device.hex(64)
                #expect(try clone.authenticate().code == "machine_changed")
                #expect(try clone.authenticate(adopt: true).status == 200)
                #expect(try clone.upload(Device.report(Device.id())).status == 201)
                var left = original
                #expect(try left.upload(Device.report(Device.id())).code == "token_invalid")
                #expect(try left.unregister().code == "token_invalid")
                #expect(try left.authenticate().code == "machine_changed")
            }
        }

        @Test func authenticationsAreRateLimitedByClient() async throws {
            try await ServerProcess.with(["--authentications-per-client", "3"]) { server in
                let key = try server.key()
                var device = try Device.ready(server, key: key)
                let codes = try (0..<4).map { _ in try device.authenticate().code }
                #expect(codes.last == "rate_limited")
                // Others are not held up.
                _ = try Device.ready(server, key: key)
            }
        }
    }

    /// How long a grant is.
    @Suite struct GrantTests {
        private static let day: Int64 = 86_400_000
        private static let now = Timestamp(milliseconds: 1_800_000_000_000)

        private func seconds(usage: Int64? = nil, validUntil: Int64? = nil) -> Int64 {
            let client = Client(
                uuid: "u", keyID: "k", tags: [], machine: "m", secret: "s", registeredAt: Self.now,
                usageUntil: usage.map { Self.now.adding(milliseconds: $0) })
            let key = RegistrationKey(
                id: "k", hash: [], validUntil: validUntil.map { Self.now.adding(milliseconds: $0) }, createdAt: Self.now)
            return Grant(client: client, key: key, capability: nil, nonce: "n", now: Self.now).seconds
        }

        @Test func sevenDaysShortenedByTheKeyAndTheUsageWindow() {
            #expect(seconds() == 604_800)
            #expect(seconds(usage: 30 * Self.day) == 604_800)
            #expect(seconds(usage: 2 * Self.day) == 172_800)
            #expect(seconds(validUntil: 3 * Self.day) == 259_200)
            #expect(seconds(usage: Self.day, validUntil: 3 * Self.day) == 86_400)
            // After the key's window, registered devices go on as usual.
            #expect(seconds(validUntil: -1) == 604_800)
            #expect(seconds(validUntil: 0) == 604_800)
            #expect(seconds(usage: 2 * Self.day, validUntil: -Self.day) == 172_800)
            #expect(seconds(usage: 400) == 1)
        }

        @Test func forbiddenBeatsAllowed() {
            let capability = Capability(name: "c", allowTypes: ["WEB", "VIDEO"], forbidSubjects: ["bad"])
            #expect(capability.allows(type: "WEB", subject: "website"))
            #expect(!capability.allows(type: "NETWORK", subject: "ping"))
            #expect(!capability.allows(type: "WEB", subject: "bad"))
            #expect(Capability(name: "empty").allows(type: "ANY", subject: "thing"))
            #expect(!Capability(name: "f", allowTypes: ["X"], forbidTypes: ["X"]).allows(type: "X", subject: "s"))
        }
    }
}
