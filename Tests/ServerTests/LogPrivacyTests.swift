import LabSupport
import MeasurementModel
import Testing

extension ServerSuites {
    /// R-37 on the server's side: what must not be in a log is not in it, also when requests go wrong.
    @Suite struct LogPrivacyTests {
        @Test func secretsPlacesAndNamesAreNotLogged() async throws {
            try await ServerProcess.with(["--log-level", "debug"]) { server in
                let key = try server.key()
                var device = Device(server: server)
                let nonce = Device.hex(32)
                try device.register(key, label: "PlantedLabel", nonce: nonce)
                try device.authenticate()
                var wrong = device
                wrong.secret = "PlantedSecret"
                _ = try wrong.authenticate()
                wrong.token = "PlantedToken"
                _ = try wrong.unregister()
                let id = Device.id()
                var report = Device.report(id)
                let place: JSONObject = ["latitude": .number(JSONNumber(48.2081743)!), "longitude": .number(JSONNumber(16.3738189)!)]
                report["geolocation_trace"] = .array([.object(place)])
                report["connection_detail_trace"] = .array([.object(["ssid": .string("PlantedNetwork")])])
                #expect(try device.upload(report).status == 201)
                var broken = report
                broken["id"] = .string(Device.id())
                broken["schema"] = .string("PlantedSchema")
                #expect(try device.upload(broken).code == "document_invalid")
                _ = try device.upload(Device.id(), Array("{\"ssid\":\"PlantedNetwork\"".utf8))
                _ = try server.send("GET", "/health?PlantedQuery=1")
                _ = try server.send("GET", "/PlantedPath")
                var visitor = try Visitor.admitted(server)
                _ = try visitor.get("/measurements/\(id)")
                _ = try visitor.get("/clients?match=PlantedSearch")
                var stranger = Visitor(server)
                #expect(try stranger.logIn("admin", "PlantedPassword").status == 403)
                let cookie = visitor.cookies["fieldprobe"] ?? "none"
                let log = server.log
                #expect(log.contains("client registered") && log.contains("status=201"))
                for planted in [
                    "Planted", String(key.suffix(26)), device.secret, device.token, String(device.token.split(separator: ".")[2]),
                    device.grant,
                    nonce, device.machine, "48.208", "16.373", Visitor.password, cookie, id,
                ] { #expect(!log.contains(planted), "\(planted)") }
            }
        }
    }
}
