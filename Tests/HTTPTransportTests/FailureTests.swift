import HTTPTransport
import LabSupport
import Testing

/// How requests fail, and that each failure says what to do and where it happened.
@Suite struct FailureTests {
    @Test func nobodyListens() async throws {
        let nobody = try LoopbackServer.refusing()
        defer { nobody.stop() }
        let error = try await withClient { await failure(of: HTTPRequest(nobody.url), $0) }
        #expect(error?.code == .connectionRefused)
        #expect(error?.phase == .connect)
        #expect(error?.isRetryable == true)
        #expect(error?.message == "'127.0.0.1' refused the connection: check that a server listens on this port")
        #expect(error?.hops.count == 1)
    }

    @Test func aNameThatDoesNotExist() async throws {
        let error = try await withClient { await failure(of: HTTPRequest("http://no-such-host.invalid/"), $0) }
        #expect(error?.code == .nameNotResolved)
        #expect(error?.phase == .nameLookup)
    }

    @Test(arguments: ["", "nonsense", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "127.0.0.1:99999"])
    func noAddress(_ url: String) async throws {
        let error = try await withClient { await failure(of: HTTPRequest(url), $0) }
        #expect(error?.code == .invalidURL || error?.code == .nameNotResolved)
    }

    @Test func aRedirectToAnotherProtocolIsRefused() async throws {
        try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond("302 Found", headers: ["Location: file:///etc/passwd"])
        } test: { server in
            let error = try await withClient { await failure(of: HTTPRequest(server.url), $0) }
            #expect(error?.code == .invalidURL)
            #expect(error?.hops.map(\.status) == [302])
        }
    }

    @Test func aServerThatNeverAnswers() async throws {
        try await LoopbackServer.run { connection in
            connection.hang()
        } test: { server in
            var request = HTTPRequest(server.url)
            request.timeouts.firstByte = .milliseconds(200)
            let limited = request
            let error = try await withClient { await failure(of: limited, $0) }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .firstByte)
            #expect(error?.message == "'127.0.0.1' sent no answer within 200 ms: check the connection, or allow more time")
            #expect(error?.hops.last?.timings.connected != nil)
            #expect(error?.hops.last?.timings.firstByte == nil)
        }
    }

    @Test func aBodyThatStops() async throws {
        try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            connection.hang()
        } test: { server in
            var request = HTTPRequest(server.url)
            request.timeouts.stall = .milliseconds(200)
            let limited = request
            let error = try await withClient { await failure(of: limited, $0) }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .body)
            #expect(error?.hops.last?.bodyOctets == 4)
        }
    }

    @Test func aBodyThatTricklesIsNotStalledButMayTakeTooLong() async throws {
        try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while connection.send("x") { connection.sleep(milliseconds: 20) }
        } test: { server in
            var request = HTTPRequest(server.url)
            request.timeouts.stall = .milliseconds(400)
            request.timeouts.total = .milliseconds(1000)
            let limited = request
            let error = try await withClient { await failure(of: limited, $0) }
            #expect(error?.phase == .body)
            #expect(error?.message.contains("was not done within 1000 ms") == true)
        }
    }

    @Test func aHandshakeThatHangs() async throws {
        let server = try TLSServer(handshakeDelay: 30)
        defer { server.stop() }
        var request = HTTPRequest("https://localhost:\(server.port)/")
        request.timeouts.tls = .milliseconds(300)
        let limited = request
        let error = try await withClient { await failure(of: limited, $0) }
        #expect(error?.code == .timedOut)
        #expect(error?.phase == .tls)
    }

    @Test func aTruncatedBody() async throws {
        try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
        } test: { server in
            let error = try await withClient { await failure(of: HTTPRequest(server.url), $0) }
            #expect(error?.code == .truncated)
            #expect(error?.hops.last?.status == 200)
        }
    }

    @Test func aConnectionThatIsReset() async throws {
        try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.reset()
        } test: { server in
            let error = try await withClient { await failure(of: HTTPRequest(server.url), $0) }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func aServerThatSpeaksSomethingElse() async throws {
        try await LoopbackServer.run { connection in
            connection.send("220 mail.example ESMTP\r\n")
            connection.hang()
        } test: { server in
            let error = try await withClient { await failure(of: HTTPRequest(server.url), $0) }
            #expect(error?.code != nil)
            #expect(error?.isRetryable == false)
        }
    }

    @Test func headersWithoutEndAreCutOff() async throws {
        try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-More: \(String(repeating: "y", count: 1000))\r\n") {}
        } test: { server in
            let error = try await withClient { await failure(of: HTTPRequest(server.url), $0) }
            #expect(error != nil)
        }
    }

    @Test func aMissingCAFile() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        var settings = HTTPClient.Settings()
        settings.caFile = "/nonexistent/ca.pem"
        let error = try await withClient(settings) { await failure(of: HTTPRequest("https://localhost:\(server.port)/"), $0) }
        #expect(error?.code == .unreadableCAFile)
    }

    @Test func aClosedClient() async throws {
        let client = HTTPClient()
        await client.close()
        await client.close()
        let error = await failure(of: HTTPRequest("http://127.0.0.1:9/"), client)
        #expect(error?.code == .closed)
    }

    @Test func closingEndsWhatIsUnderWay() async throws {
        try await LoopbackServer.run { connection in
            connection.hang()
        } test: { server in
            let client = HTTPClient()
            async let first = failure(of: HTTPRequest(server.url), client)
            async let second = failure(of: HTTPRequest(server.url), client)
            while server.connections < 2 { try await Task.sleep(for: .milliseconds(5)) }
            await client.close()
            #expect(await first?.code == .closed)
            #expect(await second?.code == .closed)
        }
    }
}
