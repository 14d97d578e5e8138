import HTTPTransport
import LabSupport
import Testing

/// Phases: their order, what a slow server shows, and what is honestly absent.
@Suite struct TimingTests {
    @Test func phasesComeInOrderAndTheSlowOneShows() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.sleep(milliseconds: 150)
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
            connection.sleep(milliseconds: 100)
            connection.send("cd")
        } test: { server in
            try await withClient { try await $0.send(HTTPRequest("http://localhost:\(server.port)")) }
        }
        let timings = response.last.timings
        let looked = try #require(timings.nameLookedUp)
        let connected = try #require(timings.connected)
        let requested = try #require(timings.requested)
        let first = try #require(timings.firstByte)
        #expect(.zero < looked && looked <= connected && connected <= requested && requested < first && first < timings.ended)
        #expect(timings.secured == nil && timings.tls == nil)
        #expect(try #require(timings.wait) >= .milliseconds(150))
        // The first octet may be noticed late on a busy machine, so that the transfer seems shorter; the whole cannot be.
        #expect(try #require(timings.transfer) > .zero)
        #expect(timings.ended - requested >= .milliseconds(245))
        #expect(response.duration >= timings.ended)
    }

    @Test func aLiteralIsNotLookedUp() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond()
        } test: { server in
            try await withClient { try await $0.send(HTTPRequest(server.url)) }
        }
        #expect(response.last.timings.nameLookup == nil)
        #expect(response.last.timings.connect != nil)
    }

    @Test func aConnectionUsedAgainHasNoConnectPhase() async throws {
        try await LoopbackServer.run { connection in
            while connection.readRequest() != nil, connection.respond(body: "again") {}
        } test: { server in
            try await withClient { client in
                let first = try await client.send(HTTPRequest(server.url))
                let second = try await client.send(HTTPRequest(server.url))
                #expect(!first.last.reusedConnection)
                #expect(second.last.reusedConnection)
                #expect(second.last.timings.connect == nil && second.last.timings.nameLookup == nil)
                #expect(second.last.timings.firstByte != nil)
                #expect(server.connections == 1)
            }
        }
    }

    @Test func eachRedirectIsAnExchangeOfItsOwn() async throws {
        let response = try await LoopbackServer.run { connection in
            while let head = connection.readRequest() {
                if head.hasPrefix("GET /one ") {
                    connection.sleep(milliseconds: 100)
                    connection.respond("301 Moved Permanently", headers: ["Location: two"])
                } else if head.hasPrefix("GET /two ") {
                    connection.respond("307 Temporary Redirect", headers: ["Location: /three?q=1"])
                } else {
                    connection.respond(body: "there")
                }
            }
        } test: { server in
            try await withClient { try await $0.send(HTTPRequest(server.url + "/one")) }
        }
        #expect(response.redirects == 2)
        #expect(response.hops.map(\.status) == [301, 307, 200])
        #expect(response.finalURL.hasSuffix("/three?q=1"))
        #expect(response.hops.map(\.reusedConnection) == [false, true, true])
        #expect(try #require(response.hops[0].timings.wait) >= .milliseconds(100))
        #expect(response.duration >= response.hops[0].timings.ended)
        #expect(response.body == Array("there".utf8))
    }

    @Test func redirectsAreLimitedOrNotFollowed() async throws {
        try await LoopbackServer.run { connection in
            while connection.readRequest() != nil, connection.respond("302 Found", headers: ["Location: /again"]) {}
        } test: { server in
            try await withClient { client in
                var request = HTTPRequest(server.url)
                request.maximumRedirects = 3
                let error = await failure(of: request, client)
                #expect(error?.code == .tooManyRedirects)
                #expect(error?.hops.count == 4)
                #expect(error?.isRetryable == false)
                request.maximumRedirects = 0
                let response = try await client.send(request)
                #expect(response.status == 302)
            }
        }
    }

    @Test func tlsIsMeasuredAndChecked() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        var settings = HTTPClient.Settings()
        settings.caFile = server.caFile
        let response = try await withClient(settings) { client in
            try await client.send(HTTPRequest("https://localhost:\(server.port)/"))
        }
        #expect(response.last.isSecured)
        #expect(response.body == Array("secure".utf8))
        let timings = response.last.timings
        #expect(try #require(timings.connected) < #require(timings.secured))
        #expect(try #require(timings.tls) > .zero)

        let unknownIssuer = try await withClient { await failure(of: HTTPRequest("https://localhost:\(server.port)/"), $0) }
        #expect(unknownIssuer?.code == .untrustedCertificate)
        #expect(unknownIssuer?.phase == .tls)
        #expect(unknownIssuer?.hops.last?.timings.connected != nil)
        let wrongName = try await withClient(settings) { await failure(of: HTTPRequest("https://127.0.0.1:\(server.port)/"), $0) }
        #expect(wrongName?.code == .untrustedCertificate)
    }
}
