import HTTPTransport
import LabSupport
import MeasurementModel
import Synchronization
import Testing

/// What a response carries.
@Suite struct ResponseTests {
    @Test func statusHeadersBodyAndPeer() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond("201 Created", headers: ["X-Thing:  spaced \t"], body: "hello")
        } test: { server in
            try await withClient { try await $0.send(HTTPRequest(server.url + "/x")) }
        }
        #expect(response.status == 201)
        #expect(response.header("x-thing") == "spaced")
        #expect(response.body == Array("hello".utf8))
        #expect(response.isBodyComplete)
        #expect(response.redirects == 0)
        #expect(response.last.httpVersion == "1.1")
        #expect(response.last.remoteAddress == "127.0.0.1")
        #expect(response.last.localAddress == "127.0.0.1")
        #expect(response.last.bodyOctets == 5)
        #expect(response.last.headerOctets > 30)
        #expect(!response.last.isSecured)
        #expect(!response.last.usedProxy)
    }

    @Test func methodHeadersAndBodyAreSent() async throws {
        let seen = Mutex("")
        _ = try await LoopbackServer.run { connection in
            let head = connection.readRequest() ?? ""
            seen.withLock { $0 = head }
            connection.respond()
        } test: { server in
            try await withClient { client in
                try await client.send(
                    HTTPRequest(server.url + "/api", method: "PUT", headers: [("X-A", "1")], body: Array(repeating: 65, count: 2_000_000)))
            }
        }
        let head = seen.withLock { $0 }
        #expect(head.hasPrefix("PUT /api HTTP/1.1\r\n"))
        #expect(head.contains("X-A: 1\r\n"))
        #expect(head.contains("Content-Length: 2000000\r\n"))
        #expect(head.contains("User-Agent: fieldprobe\r\n"))
        #expect(!head.contains("Expect"))
    }

    @Test func anErrorStatusIsAResponse() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond("503 Service Unavailable", body: "later")
        } test: { server in
            try await withClient { try await $0.send(HTTPRequest(server.url)) }
        }
        #expect(response.status == 503)
    }

    @Test func theKeptBodyIsBoundedAndTheRestCounted() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond(body: String(repeating: "x", count: 300_000))
        } test: { server in
            var request = HTTPRequest(server.url)
            request.keptBody = 1000
            return try await withClient { try await $0.send(request) }
        }
        #expect(response.body.count == 1000)
        #expect(!response.isBodyComplete)
        #expect(response.last.bodyOctets == 300_000)
    }

    @Test func nothingOfTheBodyNeedBeKept() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond(body: "abc")
        } test: { server in
            var request = HTTPRequest(server.url)
            request.keptBody = 0
            return try await withClient { try await $0.send(request) }
        }
        #expect(response.body.isEmpty)
        #expect(response.last.bodyOctets == 3)
    }

    @Test func bothFamiliesAndThePeerIsTold() async throws {
        for family in IPAddress.Family.allCases {
            let told = Mutex<[String]>([])
            let response = try await LoopbackServer.run(family) { connection in
                _ = connection.readRequest()
                connection.respond()
            } test: { server in
                var request = HTTPRequest(server.url)
                request.onPeer = { address, port in told.withLock { $0.append("\(address) \(port == server.port)") } }
                return try await withClient { try await $0.send(request) }
            }
            let address = family == .ipv4 ? "127.0.0.1" : "::1"
            #expect(response.last.remoteAddress == address)
            #expect(told.withLock { $0 } == ["\(address) true"])
        }
    }

    @Test func aFamilyCanBeChosen() async throws {
        try await LoopbackServer.run(.ipv6) { connection in
            _ = connection.readRequest()
            connection.respond()
        } test: { server in
            var request = HTTPRequest("http://localhost:\(server.port)")
            request.addressFamily = .ipv6
            let response = try await withClient { try await $0.send(request) }
            #expect(response.last.remoteAddress == "::1")
            request.addressFamily = .ipv4
            let ipv4 = request
            let error = try await withClient { await failure(of: ipv4, $0) }
            #expect(error?.code == .connectionRefused)
        }
    }

    @Test func whatProvesAnIdentityStaysAtItsOrigin() async throws {
        let seen = Mutex("")
        try await LoopbackServer.run { connection in
            let head = connection.readRequest() ?? ""
            seen.withLock { $0 = head }
            connection.respond()
        } test: { other in
            try await LoopbackServer.run { connection in
                _ = connection.readRequest()
                connection.respond("302 Found", headers: ["Location: \(other.url)/there"])
            } test: { server in
                let request = HTTPRequest(
                    server.url, method: "POST", headers: [("Authorization", "secret"), ("X-Other", "kept")], body: Array("body".utf8))
                let response = try await withClient { try await $0.send(request) }
                #expect(response.finalURL == "\(other.url)/there")
            }
        }
        let head = seen.withLock { $0 }
        #expect(head.hasPrefix("GET /there"))
        #expect(!head.contains("secret"))
        #expect(head.contains("X-Other: kept"))
    }

    @Test func aPasswordInTheAddressIsNotShown() async throws {
        let response = try await LoopbackServer.run { connection in
            _ = connection.readRequest()
            connection.respond()
        } test: { server in
            try await withClient { try await $0.send(HTTPRequest("http://user:pass@127.0.0.1:\(server.port)/p")) }
        }
        #expect(response.finalURL == "http://127.0.0.1:\(response.last.remotePort ?? 0)/p")
    }

    @Test func aProxyCarriesTheRequestAndIsTold() async throws {
        let seen = Mutex("")
        try await LoopbackServer.run { connection in
            let head = connection.readRequest() ?? ""
            seen.withLock { $0 = head }
            connection.respond(body: "by proxy")
        } test: { proxy in
            var request = HTTPRequest("http://name.invalid/page")
            request.proxy = .url(proxy.url)
            let through = request
            let response = try await withClient { try await $0.send(through) }
            #expect(response.last.usedProxy)
            #expect(response.body == Array("by proxy".utf8))
        }
        #expect(seen.withLock { $0 }.hasPrefix("GET http://name.invalid/page "))
    }
}
