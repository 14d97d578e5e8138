import CollectorCore
import HTTPTransport
import LabSupport
import MeasurementModel
import QualityTests
import Testing

/// The built-in WEB measurement.
@Suite struct WebMeasurementTests {
    private func run(_ urls: [String], _ change: (inout WebMeasurement.Settings) -> Void = { _ in }) async throws -> Report {
        var settings = WebMeasurement.Settings()
        change(&settings)
        let web = WebMeasurement(urls, settings: settings)
        var test = QualityTest.Settings()
        test.lookup = web.lookup(of: web.target)
        return try await QualityTest(type: "WEB", subject: "website", gate: OpenGate(), target: web.target, settings: test)
            .run { try await web.run(in: $0) }
    }

    @Test func pagesPhasesAndErrors() async throws {
        let report = try await LoopbackServer.run { connection in
            while let head = connection.readRequest() {
                if head.hasPrefix("GET /old ") {
                    connection.respond("302 Found", headers: ["Location: /new"])
                } else {
                    connection.sleep(milliseconds: 50)
                    connection.respond(body: "hello")
                }
            }
        } test: { server in
            let page = "http://localhost:\(server.port)"
            let report = try await run(["\(page)/", "\(page)/old", "http://no-such-host.invalid/"])
            // Nothing is left from one address to the next.
            #expect(server.connections == 2)
            return report
        }
        #expect(report.finishedReason == .completed)
        let first = try #require(report.result?["pages"]?[0])
        #expect(first["status"]?.int64 == 200)
        #expect(first["http_version"]?.string == "1.1")
        #expect(first["redirects"]?.int64 == 0)
        #expect(first["body_octets"]?.int64 == 5)
        #expect(first["hops"] == nil)
        let phases = try #require(first["phases_ms"])
        #expect(try #require(phases["first_byte"]?.double) >= 50)
        #expect(phases["name_lookup"]?.double ?? 0 > 0)
        #expect(phases["tls"] == nil)
        let at = try #require(first["at_ms"])
        #expect(try #require(at["total"]?.double) >= #require(at["first_byte"]?.double))

        let second = try #require(report.result?["pages"]?[1])
        #expect(second["redirects"]?.int64 == 1)
        #expect(second["final_url"]?.string?.hasSuffix("/new") == true)
        #expect(second["hops"]?.array?.count == 2)
        #expect(second["hops"]?[1]?["reused_connection"]?.bool == true)

        let third = try #require(report.result?["pages"]?[2])
        #expect(third["error"]?["code"]?.string == "name_not_resolved")
        #expect(third["error"]?["phase"]?.string == "name_lookup")
        #expect(third["status"] == nil)
    }

    /// The target's address is the one that was really talked to, and no lookup of ours was made for it.
    @Test func theTargetIsWhatWasReached() async throws {
        let report = try await LoopbackServer.run(.ipv6) { connection in
            _ = connection.readRequest()
            connection.respond()
        } test: { server in
            try await run(["http://localhost:\(server.port)/"]) { $0.addressFamily = .ipv6 }
        }
        #expect(report.target?["host"]?.string == "localhost")
        #expect(report.target?["addresses"]?.text() == #"["::1"]"#)
        #expect(report.target?["known_from_offset_ms"] != nil)
    }

    @Test func howTheTargetIsLookedUp() {
        let web = WebMeasurement(["Server.Example/x", "http://192.0.2.1/"])
        #expect(web.urls[0] == "https://Server.Example/x")
        #expect(web.target == "server.example")
        #expect(web.lookup(of: "server.example") == .measurement)
        #expect(web.lookup(of: "other.example") == .resolver)
    }

    @Test func aTestThatFetchesNothingHasFailed() async throws {
        let nobody = try LoopbackServer.refusing()
        defer { nobody.stop() }
        let report = try await run([nobody.url, "nonsense://x"])
        #expect(report.finishedReason == .failed)
        #expect(report.result?["pages"]?[0]?["error"]?["code"]?.string == "connection_refused")
        #expect(report.result?["pages"]?[1]?["error"]?["code"]?.string == "invalid_url")
    }

    @Test func cancelling() async throws {
        try await LoopbackServer.run { connection in
            connection.hang()
        } test: { server in
            let task = Task { try await run([server.url]) }
            while server.connections < 1 { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(try await task.value.finishedReason == .aborted)
        }
    }

    @Test func tlsPhases() async throws {
        let server = try TLSServer(handshakeDelay: 0.1)
        defer { server.stop() }
        let report = try await run(["https://localhost:\(server.port)/"]) { $0.caFile = server.caFile }
        let page = try #require(report.result?["pages"]?[0])
        #expect(page["is_secured"]?.bool == true)
        #expect(try #require(page["phases_ms"]?["tls"]?.double) >= 90)
        let untrusted = try await run(["https://localhost:\(server.port)/"])
        #expect(untrusted.result?["pages"]?[0]?["error"]?["code"]?.string == "untrusted_certificate")
    }
}
