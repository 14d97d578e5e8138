import LabSupport
import MeasurementModel
import Testing

extension ServerSuites {
    /// reports that are handed over.
    @Suite struct MeasurementTests {
        @Test func aReportIsStoredOnce() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key(), label: "roof")
                let report = Device.report(Device.id())
                let id = try #require(report["id"]?.string)
                #expect(try device.upload(report).status == 201)
                let again = try device.upload(report)
                #expect(again.status == 200)
                #expect(again.json?["already_stored"]?.bool == true)
                // What was accepted stays accepted, whatever comes under its name.
                #expect(try device.upload(id, Array("not JSON".utf8)).status == 200)
                let other = try Device.ready(server, key: server.key())
                #expect(try other.upload(report).code == "id_conflict")
                #expect(try server.adminJSON("measurement", "list").array?.count == 1)
                #expect(try server.adminJSON("measurement", "show", id)["type"]?.string == "WEB")
                #expect(try server.admin("measurement", "export").split(separator: "\n").count == 1)
            }
        }

        @Test func aPackedReportComesOutAsItWentIn() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                let packed = try Packed(copies: 2000)
                let gzip = ["Content-Encoding: gzip"]
                #expect(try device.upload(packed.id, packed.octets, headers: gzip).status == 201)
                #expect(try server.adminJSON("measurement", "show", packed.id)["result"]?.array?.count == 2000)
                let cut = try Packed(copies: 10)
                #expect(try device.upload(cut.id, Array(cut.octets.dropLast(4)), headers: gzip).code == "document_invalid")
                #expect(try device.upload(cut.id, cut.octets + cut.octets, headers: gzip).code == "document_invalid")
                #expect(try device.upload(cut.id, cut.octets + [0], headers: gzip).code == "document_invalid")
                #expect(try device.upload(cut.id, cut.octets).code == "document_invalid")
                #expect(try device.upload(cut.id, cut.octets, headers: ["Content-Encoding: br"]).code == "unsupported_media_type")
                #expect(try device.upload(cut.id, cut.octets, headers: gzip + gzip).code == "unsupported_media_type")
                #expect(try device.upload(cut.id, cut.octets, headers: gzip).status == 201)
            }
        }

        @Test func whatIsNoReportIsRefusedWithTheReason() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                let id = Device.id()
                func change(_ name: String, _ value: JSONValue?) -> [UInt8] {
                    var report = Device.report(id)
                    report[name] = value
                    return JSONValue.object(report).utf8()
                }
                let deep = Array((String(repeating: "[", count: 100) + String(repeating: "]", count: 100)).utf8)
                let veryDeep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
                let bodies: [(String, [UInt8])] = [
                    ("schema", change("schema", .string("other/1"))), ("schema", change("schema", nil)),
                    ("'id'", change("id", .string(Device.id()))),
                    ("'type'", change("type", .integer(1))), ("'type'", change("type", .string(""))), ("'subject'", change("subject", nil)),
                    ("'subject'", change("subject", .string("a\u{1B}[2J"))),
                    ("'type'", change("type", .string(String(repeating: "x", count: 101)))),
                    ("client_uuid", change("client_uuid", .string(Device.id()))), ("object", Array("[1]".utf8)), ("JSON", Array("{".utf8)),
                    ("JSON", []), ("UTF-8", [0x22, 0xFF, 0x22]), ("nested", deep), ("nested", veryDeep),
                ]
                for (word, body) in bodies {
                    let response = try device.upload(id, body)
                    #expect(response.code == "document_invalid")
                    #expect(response.json?["detail"]?.string?.contains(word) == true, "\(word): \(response.text)")
                }
                #expect(try device.upload(id, change("client_uuid", .string(device.uuid))).status == 201)
                #expect(try device.upload("not-a-uuid", []).code == "document_invalid")
                #expect(try device.upload(Device.id().uppercased(), []).code == "document_invalid")
                let plain = ["Authorization: Bearer \(device.token)", "Content-Type: text/plain"]
                let target = "\(Device.base)/measurements/\(id)"
                #expect(try server.send("PUT", target, headers: plain, body: [1]).code == "unsupported_media_type")
            }
        }

        ///
        @Test func aCapabilityIsAlsoTheServersBusiness() async throws {
            try await ServerProcess.with { server in
                try server.admin("capability", "create", "web", "--allow-type", "WEB", "--forbid-subject", "secret")
                let device = try Device.ready(server, key: server.key("--capability", "web"))
                #expect(try device.upload(Device.report(Device.id())).status == 201)
                let refused = try device.upload(Device.report(Device.id(), type: "NETWORK", subject: "ping"))
                #expect(refused.code == "kind_not_allowed")
                #expect(refused.json?["detail"]?.string?.contains("'NETWORK' with the subject 'ping'") == true)
                #expect(try device.upload(Device.report(Device.id(), subject: "secret")).code == "kind_not_allowed")
            }
        }

        @Test func uploadsAreRateLimitedByClient() async throws {
            try await ServerProcess.with(["--uploads-per-minute", "3"]) { server in
                let key = try server.key()
                let device = try Device.ready(server, key: key)
                let codes = try (0..<5).map { _ in try device.upload(Device.report(Device.id())).status }
                #expect(codes.prefix(3) == [201, 201, 201])
                #expect(codes[4] == 429)
                #expect(try Device.ready(server, key: key).upload(Device.report(Device.id())).status == 201)
            }
        }
    }
}

/// A packed report.
struct Packed {
    let id = Device.id()
    let octets: [UInt8]

    init(copies: Int) throws {
        let folder = try TemporaryFolder()
        var report = Device.report(id)
        report["result"] = .array((0..<copies).map { .integer($0) })
        let file = try folder.write("report", JSONValue.object(report).text())
        try ChildProcess.run("gzip", file)
        octets = try Files.octets(file + ".gz")
    }
}
