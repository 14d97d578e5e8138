import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

extension ServerSuites {
    /// R-28, R-29, R-34, R-35: keys, slots and labels.
    @Suite struct RegistrationTests {
        @Test func aDeviceJoinsAndLeaves() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "1")
                var device = try Device.ready(server, key: key, label: "roof")
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == 1)
                var second = Device(server: server)
                #expect(try second.register(key).code == "key_exhausted")
                #expect(try device.unregister().status == 204)
                #expect(try device.unregister().code == "unknown_credentials")
                #expect(try device.authenticate().code == "unknown_credentials")
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == 0)
                // The slot and the label are free.
                #expect(try second.register(key, label: "roof").status == 201)
            }
        }

        @Test func everyRefusalHasItsCode() async throws {
            try await ServerProcess.with { server in
                var device = Device(server: server)
                let open = try server.key()
                #expect(try device.register("fp-abcdefgh-abcdefghabcdefghabcdefghij").code == "key_unknown")
                #expect(try device.register("not a key").code == "key_unknown")
                // The right public part with another secret part.
                #expect(try device.register(String(open.dropLast()) + (open.hasSuffix("a") ? "b" : "a")).code == "key_unknown")
                #expect(try device.register(server.key("--valid-from", "2999-01-01")).code == "key_not_yet_valid")
                #expect(try device.register(server.key("--valid-until", "2020-01-01")).code == "key_expired")
                let revoked = try server.key()
                try server.admin("key", "revoke", revoked)
                #expect(try device.register(revoked).code == "key_revoked")
                #expect(try device.register(open, label: "one").status == 201)
                var other = Device(server: server)
                #expect(try other.register(open, label: "one").code == "label_taken")
                #expect(try other.register(open, label: "two").status == 201)
            }
        }

        @Test(arguments: [
            #"[]"#, #"{"#, #"{"registration_key":1,"machine":"M","nonce":"N"}"#, #"{"machine":"M","nonce":"N"}"#,
            #"{"registration_key":"K","machine":"short","nonce":"N"}"#, #"{"registration_key":"K","machine":"M","nonce":"XYZ"}"#,
            #"{"registration_key":"K","machine":"M","nonce":"N","label":""}"#,
            #"{"registration_key":"K","machine":"M","nonce":"N","label":"a\u0007"}"#,
            #"{"registration_key":"K","machine":"M","nonce":"N","label":"\u202eabc"}"#,
            #"{"registration_key":"K","machine":"M","nonce":"N","tags":"x"}"#,
            #"{"registration_key":"K","machine":"M","nonce":"N","tags":[""]}"#,
            #"{"registration_key":"K","machine":"M","nonce":"N","tags":[1]}"#, "\u{FEFF}{}", "nonsense",
        ])
        func whatIsNoRequestIsRefused(body: String) async throws {
            try await ServerProcess.with { server in
                let text = body.replacing("\"M\"", with: "\"\(Device.hex(64))\"").replacing("\"N\"", with: "\"\(Device.hex(32))\"")
                let response = try server.send("POST", "\(Device.base)/registrations", headers: [Device.json], body: Array(text.utf8))
                #expect(response.code == "invalid_request")
                #expect(response.header("content-type") == "application/problem+json")
            }
        }

        /// An answer that was lost costs no second slot.
        @Test func aRepeatedRequestGetsTheSameClient() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "1")
                var device = Device(server: server)
                let nonce = Device.hex(32)
                let first = try device.register(key, label: "roof", nonce: nonce)
                let again = try device.register(key, label: "roof", nonce: nonce)
                #expect(first.status == 201)
                #expect(first.json?["client_uuid"] == again.json?["client_uuid"])
                #expect(first.json?["secret"] == again.json?["secret"])
                #expect(try device.authenticate().status == 200)
                // Whoever has only heard the nonce gets nothing by it.
                var other = Device(server: server)
                #expect(try other.register(key, nonce: nonce).code == "invalid_request")
                // A day later the request is no repetition any more.
                try server.sql("UPDATE registrations SET created_at = created_at - 86400000")
                #expect(try device.register(key, nonce: nonce).code == "invalid_request")
            }
        }

        @Test func sixtyFourDevicesRaceForTenSlots() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "10")
                let codes = Mutex<[String: Int]>([:])
                inParallel(64) { number in
                    var device = Device(server: server)
                    let code = (try? device.register(key, label: "racer \(number % 40)")).map { $0.code ?? "\($0.status)" } ?? "none"
                    codes.withLock { $0[code, default: 0] += 1 }
                }
                let found = codes.withLock { $0 }
                #expect(found["201"] == 10)
                #expect(found.values.reduce(0, +) == 64)
                #expect(Set(found.keys).isSubset(of: ["201", "key_exhausted", "label_taken"]))
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == 10)
                let clients = try server.adminJSON("client", "list").array ?? []
                #expect(clients.count == 10)
                #expect(Set(clients.compactMap { $0["label"]?.string }).count == 10)
            }
        }

        /// All at once with one nonce: one client.
        @Test func aRequestThatIsSentManyTimesAtOnceTakesOneSlot() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "5")
                let nonce = Device.hex(32)
                let machine = Device.hex(64)
                let clients = Mutex<Set<String>>([])
                inParallel(16) { _ in
                    var device = Device(server: server, machine: machine)
                    _ = try? device.register(key, nonce: nonce)
                    let uuid = device.uuid
                    clients.withLock { _ = $0.insert(uuid) }
                }
                #expect(clients.withLock { $0.count } == 1)
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == 1)
            }
        }

        @Test func aUsageWindowThatEndsFreesItsSlotByItself() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "1", "--usage-days", "30")
                var device = try Device.ready(server, key: key, label: "van")
                try server.sql("UPDATE clients SET usage_until = 1000")
                // Nothing was asked of the device, and nobody has swept.
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == 0)
                #expect(try device.authenticate().code == "usage_window_elapsed")
                #expect(try device.upload(Device.report(Device.id())).code == "usage_window_elapsed")
                var again = Device(server: server, machine: device.machine)
                #expect(try again.register(key, label: "van").status == 201)
                // Clocks that are set back give no window back.
                try server.sql("UPDATE clients SET usage_until = usage_until + 864000000000000")
                #expect(try device.authenticate().code == "usage_window_elapsed")
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == 1)
            }
        }

        /// A proxy's word counts, and nobody else's.
        @Test func limitsCountWhoIsBehindAProxy() async throws {
            let unknown = "fp-abcdefgh-abcdefghabcdefghabcdefghij"
            @Sendable func register(_ server: ServerProcess, from address: String) throws -> String? {
                let document: JSONObject = [
                    "registration_key": .string(unknown), "machine": .string(Device.hex(64)), "nonce": .string(Device.hex(32)),
                ]
                let headers = [Device.json, "X-Forwarded-For: 203.0.113.77, \(address)"]
                return try server.send("POST", "\(Device.base)/registrations", headers: headers, body: JSONValue.object(document).utf8())
                    .code
            }
            try await ServerProcess.with(["--registrations-per-minute", "2", "--proxy", "127.0.0.1"]) { server in
                let addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8::3"]
                let codes = try addresses.map { try register(server, from: $0) }
                #expect(codes.map { $0 == "rate_limited" } == [false, false, true, false, false, false, true])
                #expect(try server.send("GET", "/login").header("set-cookie")?.contains("Secure") == true)
            }
            try await ServerProcess.with(["--registrations-per-minute", "2", "--proxy", "192.0.2.200"]) { server in
                let codes = try (1...3).map { try register(server, from: "192.0.2.\($0)") }
                #expect(codes.last == "rate_limited")
            }
        }

        @Test func registrationsAreRateLimited() async throws {
            try await ServerProcess.with(["--registrations-per-minute", "5"]) { server in
                var device = Device(server: server)
                let codes = try (0..<7).map { _ in try device.register("fp-abcdefgh-abcdefghabcdefghabcdefghij") }
                #expect(codes.prefix(5).allSatisfy { $0.code == "key_unknown" })
                #expect(codes[6].code == "rate_limited")
                #expect(codes[6].header("retry-after").flatMap { Int($0) }.map { $0 >= 1 } == true)
            }
        }
    }
}

/// Runs a body on so many threads, and waits for them.
func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    let threads = (0..<count).map { number in
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { @Sendable argument in
                Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(Work { body(number) }).toOpaque())
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
}
