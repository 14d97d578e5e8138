import Glibc
import LabSupport
import MeasurementModel
import Testing

/// docs/client-api.yaml, and whether the server keeps to it.
enum APIDocument {
    static let path: String = {
        // Beside the sources, wherever they were checked out.
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(here)/docs/client-api.yaml"
    }()

    static let tools = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Tools"

    /// - Throws: with every fault.
    static func check(complete: Bool = false) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("exchanges", ExchangeRecord.text)
        try ChildProcess.run(["/usr/bin/python3", "\(tools)/check_api.py", path, file] + (complete ? ["--complete"] : []))
    }
}

extension ServerSuites {
    @Suite struct APIDocumentTests {
        /// Every operation with every answer that it can be brought to give, checked against the document.
        @Test func theServerKeepsToItsDocument() async throws {
            let limits = ["--uploads-per-minute=40", "--token-seconds=3"]
            try await ServerProcess.with(limits) { server in
                #expect(try server.send("GET", "/health").status == 200)
                #expect(try server.send("GET", "/health/more").status == 404)
                #expect(try server.send("PATCH", "\(Device.base)/registrations").status == 405)
                try Self.registrations(server)
                try Self.authentications(server)
                try Self.measurements(server)
                try Self.departures(server)
            }
            try await ServerProcess.with(["--registrations-per-minute=1", "--authentications-per-minute=1", "--uploads-per-minute=1"]) {
                var device = try Device.ready($0, key: $0.key())
                #expect(try device.register("fp-abcdefgh-abcdefghabcdefghabcdefghij").code == "rate_limited")
                #expect(try device.authenticate().code == "rate_limited")
                _ = try device.upload(Device.report(Device.id()))
                #expect(try device.upload(Device.report(Device.id())).code == "rate_limited")
            }
            try await blocking { try APIDocument.check(complete: true) }
        }

        /// Each operation's own way of being too large, or of a wrong type.
        private static func malformed(_ server: ServerProcess, _ path: String) throws {
            let large = [UInt8](repeating: 0x20, count: 20_000)
            #expect(try server.send("POST", path, headers: [Device.json], body: large).code == "request_too_large")
            #expect(try server.send("POST", path, body: [0x7B, 0x7D]).code == "unsupported_media_type")
            #expect(try server.send("POST", path, json: .object([:])).code == "invalid_request")
        }

        private static func registrations(_ server: ServerProcess) throws {
            try malformed(server, "\(Device.base)/registrations")
            var device = Device(server: server)
            #expect(try device.register("fp-abcdefgh-abcdefghabcdefghabcdefghij").code == "key_unknown")
            #expect(try device.register(server.key("--valid-from", "2999-01-01")).code == "key_not_yet_valid")
            #expect(try device.register(server.key("--valid-until", "2020-01-01")).code == "key_expired")
            let key = try server.key("--devices", "1")
            #expect(try device.register(key, label: "one").status == 201)
            var other = Device(server: server)
            #expect(try other.register(key).code == "key_exhausted")
            #expect(try other.register(server.key(), label: "one").code == "label_taken")
            try server.admin("key", "revoke", key)
            #expect(try other.register(key).code == "key_revoked")
        }

        private static func authentications(_ server: ServerProcess) throws {
            try malformed(server, "\(Device.base)/authentications")
            var device = try Device.ready(server, key: server.key("--usage-days", "3"))
            var wrong = device
            wrong.secret = "wrong"
            #expect(try wrong.authenticate().code == "unknown_credentials")
            wrong = device
            wrong.machine = Device.hex(64)
            #expect(try wrong.authenticate().code == "machine_changed")
            try server.admin("client", "disable", device.uuid)
            #expect(try device.authenticate().code == "client_disabled")
            #expect(try device.upload(Device.report(Device.id())).code == "client_disabled")
            #expect(try device.unregister().code == "client_disabled")
            try server.admin("client", "enable", device.uuid)
            try device.authenticate()
            try server.sql("UPDATE clients SET usage_until = 1000 WHERE uuid = '\(device.uuid)'")
            #expect(try device.authenticate().code == "usage_window_elapsed")
            #expect(try device.upload(Device.report(Device.id())).code == "usage_window_elapsed")
        }

        private static func measurements(_ server: ServerProcess) throws {
            try server.admin("capability", "create", "web", "--allow-type", "WEB")
            let key = try server.key("--capability", "web")
            var device = try Device.ready(server, key: key, label: "roof")
            let report = Device.report(Device.id())
            #expect(try device.upload(report).status == 201)
            #expect(try device.upload(report).status == 200)
            #expect(try Device.ready(server, key: key).upload(report).code == "id_conflict")
            #expect(try device.upload(Device.report(Device.id(), type: "VIDEO")).code == "kind_not_allowed")
            #expect(try device.upload(Device.id(), []).code == "document_invalid")
            let large = [UInt8](repeating: 0x20, count: 9 << 20)
            #expect(try device.upload(Device.id(), large).code == "document_too_large")
            #expect(try device.upload(Device.id(), [1], headers: ["Content-Encoding: br"]).code == "unsupported_media_type")
            sleep(4)
            #expect(try device.upload(Device.report(Device.id())).code == "token_expired")
            #expect(try device.unregister().code == "token_expired")
            device.token = "x"
            #expect(try device.upload(Device.report(Device.id())).code == "token_invalid")
        }

        private static func departures(_ server: ServerProcess) throws {
            var device = try Device.ready(server, key: server.key())
            let target = "\(Device.base)/clients/self"
            #expect(try server.send("DELETE", target, body: [1, 2, 3]).code == "request_too_large")
            #expect(try device.unregister().status == 204)
            #expect(try device.unregister().code == "unknown_credentials")
            #expect(try device.upload(Device.report(Device.id())).code == "unknown_credentials")
            device.token = "x"
            #expect(try device.unregister().code == "token_invalid")
        }
    }
}
