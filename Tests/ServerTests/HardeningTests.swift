import Glibc
import LabSupport
import MeasurementModel
import Testing

extension ServerSuites {
    /// Requests that no device sends.
    @Suite struct HardeningTests {
        private func expectAlive(_ server: ServerProcess) throws {
            #expect(try server.send("GET", "/health").status == 200)
        }

        @Test func pathsLeadWhereTheySay() async throws {
            try await ServerProcess.with { server in
                let base = Device.base
                let targets = [
                    "/..%2fhealth", "/%2e%2e/health", "/./health", "//health", "/health/", "/health/../health", "\(base)/../health",
                    "\(base)/measurements/..%2f..%2fhealth", "\(base)/measurements/%00", "/health%00", "\(base)//registrations", "/HEALTH",
                    "/client_api/v2/registrations", "/etc/passwd", "/style.css/..", "/a;b", "/\u{FF}", "*",
                    "/" + String(repeating: "a", count: 5000), "/" + String(repeating: "a/", count: 2000),
                ]
                for target in targets {
                    let status = try? server.send("GET", target).status
                    #expect([400, 404, 414, 431, nil].contains(status), "\(target.prefix(60)): \(String(describing: status))")
                }
                let escaped = try server.send("GET", "/health?x=%zz")
                #expect(escaped.status == 404)
                try expectAlive(server)
            }
        }

        @Test func whatIsNoHTTPIsEnded() async throws {
            try await ServerProcess.with(["--patience", "1"]) { server in
                let requests: [[UInt8]] = [
                    Array("GET /health\r\n\r\n".utf8), Array("GET /health HTTP/9.9\r\n\r\n".utf8), [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC],
                    Array("GET /hea\u{0}lth HTTP/1.1\r\nHost: x\r\n\r\n".utf8), Array("\r\n\r\n\r\n".utf8),
                    Array("GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "a: b\r\n", count: 20_000))\r\n".utf8),
                    Array("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n".utf8),
                    Array("POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n".utf8),
                    Array("POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n".utf8),
                    Array("POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n".utf8),
                    Array(
                        "POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef".utf8
                    ),
                    Array(
                        "POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                            .utf8),
                ]
                for request in requests {
                    let connection = try RawConnection(port: server.port)
                    connection.send(request)
                    connection.endSending()
                    let answer = String(decoding: connection.readAll().prefix(40), as: UTF8.self)
                    #expect(answer.isEmpty || answer.contains(" 4") || answer.contains(" 505 "), "\(answer)")
                }
                try expectAlive(server)
            }
        }

        @Test func largeBodiesAreRefusedHoweverTheyAreSent() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                let large = [UInt8](repeating: 0x20, count: 20 << 20)
                #expect(try device.upload(Device.id(), large).code == "document_too_large")
                // Without a token, nothing is kept, and the answer still comes.
                let target = "\(Device.base)/measurements/\(Device.id())"
                #expect(try server.send("PUT", target, headers: [Device.json], body: large).code == "document_too_large")
                #expect(try server.send("PUT", target, headers: [Device.json], body: Array(large.prefix(1 << 20))).code == "token_invalid")
                // In chunks, so that nobody knows the length.
                let chunked = try RawConnection(port: server.port)
                let head = "PUT \(target) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(device.token)\r\n\(Device.json)\r\n"
                chunked.send(head + "Transfer-Encoding: chunked\r\n\r\n")
                for _ in 0..<20 { chunked.send(Array("100000\r\n".utf8) + large.prefix(1 << 20) + [13, 10]) }
                chunked.send("0\r\n\r\n")
                #expect(chunked.response()?.code == "document_too_large")
                // Asked before it is sent: refused before it is sent.
                let polite = try RawConnection(port: server.port)
                polite.send(head + "Content-Length: 20000000\r\nExpect: 100-continue\r\n\r\n")
                #expect(polite.response()?.code == "document_too_large")
                let small = try RawConnection(port: server.port)
                small.send(
                    "POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\n\(Device.json)\r\nTransfer-Encoding: chunked\r\n\r\n5000\r\n")
                small.send(Array(large.prefix(0x5000)) + Array("\r\n0\r\n\r\n".utf8))
                #expect(small.response()?.code == "request_too_large")
                #expect(server.peakMemory < 200 << 20)
            }
        }

        @Test func aBombDoesNotGoOff() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                let folder = try TemporaryFolder()
                let file = "\(folder.path)/bomb"
                try ChildProcess.run("sh", "-c", "head -c 400000000 /dev/zero | gzip > \(file)")
                let bomb = try Files.octets(file)
                for _ in 0..<3 {
                    #expect(try device.upload(Device.id(), bomb, headers: ["Content-Encoding: gzip"]).code == "document_too_large")
                }
                #expect(server.peakMemory < 200 << 20, "\(server.peakMemory)")
            }
        }

        /// One octet at a time keeps a connection from being idle, and not from being too slow.
        @Test func slowClientsAreEnded() async throws {
            try await ServerProcess.with(["--patience", "2"]) { server in
                let device = try Device.ready(server, key: server.key())
                let slowHead = try RawConnection(port: server.port)
                let slowBody = try RawConnection(port: server.port)
                slowBody.send(
                    "PUT \(Device.base)/measurements/\(Device.id()) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(device.token)\r\n\(Device.json)\r\nContent-Length: 500\r\n\r\n"
                )
                slowHead.send("GET /health HTTP/1.1\r\nX: ")
                var ended: Set<Int> = []
                for _ in 0..<100 where ended.count < 2 {
                    if !slowHead.send("a") { ended.insert(0) }
                    if !slowBody.send(" ") { ended.insert(1) }
                    #expect(try server.send("GET", "/health").status == 200)
                    usleep(200_000)
                }
                #expect(ended == [0, 1])
                #expect(server.log.contains("slow connections ended"))
            }
        }

        /// Whoever takes all connections of an address keeps out nobody else, and the server holds only so many.
        @Test func thousandsOfConnectionsAreBounded() async throws {
            try await ServerProcess.with(["--connections", "1500", "--connections-per-address", "300", "--patience", "5"]) { server in
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                limit.rlim_cur = limit.rlim_max
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let key = try server.key()
                var crowd: [RawConnection] = []
                for number in 0..<2000 {
                    // 127.0.0.2 to 127.0.0.5.
                    if let connection = try? RawConnection(port: server.port, from: 0x7F00_0002 + UInt32(number % 4)) {
                        connection.send("GET /health HTTP/1.1\r\n")
                        crowd.append(connection)
                    }
                }
                #expect(crowd.count > 1500)
                let device = try Device.ready(server, key: key)
                #expect(try device.upload(Device.report(Device.id())).status == 201)
                #expect(server.descriptors < 1600, "\(server.descriptors)")
                #expect(server.peakMemory < 300 << 20, "\(server.peakMemory)")
                // The crowd is ended, though it never leaves.
                var left = server.descriptors
                for _ in 0..<150 where left > 100 {
                    usleep(200_000)
                    left = server.descriptors
                }
                #expect(left <= 100)
                withExtendedLifetime(crowd) {}
            }
        }

        /// More work than the server can queue is refused at once, and everybody gets an answer.
        @Test func aCrowdThatRegistersIsAnsweredToTheLast() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "1000")
                let connections = try (0..<300).map { _ in try RawConnection(port: server.port) }
                for connection in connections {
                    let body = JSONValue.object(
                        ["registration_key": .string(key), "machine": .string(Device.hex(64)), "nonce": .string(Device.hex(32))]
                    ).text()
                    connection.send(
                        "POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\n\(Device.json)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                }
                let answers = connections.map { $0.response() }
                for answer in answers.compactMap({ $0 }).suffix(50) {
                    ExchangeRecord.keep("POST", "\(Device.base)/registrations", [], [], answer)
                }
                #expect(answers.allSatisfy { $0?.status == 201 || $0?.code == "server_busy" })
                let registered = answers.count { $0?.status == 201 }
                #expect(registered >= 256 && registered < 300)
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == Int64(registered))
                try APIDocument.check()
            }
        }
    }
}

extension ServerProcess {
    private func status(_ name: String) -> Int {
        let line = (TemporaryFolder.read("/proc/\(pid)/status") ?? "").split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Octets of memory that the process had at its highest. Sanitizers take their own: under them it says nothing.
    var peakMemory: Int { TemporaryFolder.isSanitized(pid) ? 0 : status("VmHWM") * 1024 }

    var descriptors: Int { namesInFolder("/proc/\(pid)/fd").count }
}
