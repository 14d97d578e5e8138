import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

extension ServerSuites {
    /// R-47 on the server's side: what was acknowledged is there, whatever happened.
    @Suite struct CrashTests {
        /// One device of the test below: it repeats its request until it has an answer.
        private struct Applicant: Sendable {
            let machine = Device.hex(64)
            let nonce = Device.hex(32)
            var uuid: String?
        }

        @Test func aServerThatIsKilledLosesNoSlotAndNoClient() async throws {
            try await blocking {
                let first = try ServerProcess()
                let key = try first.key("--devices", "500")
                let folder = first.folder
                first.stop()
                let applicants = Mutex<[Applicant]>([])
                let stored = Mutex<[String]>([])
                for round in 0..<8 {
                    let server = try ServerProcess(folder: folder)
                    let steps = Mutex(0)
                    let isOver = Mutex(false)
                    // After so many answers: then some requests have been answered, and others are on their way. So many of four devices'
                    // answers hold some of each kind.
                    let last = round == 0 ? 16 : Int.random(in: 1...16)
                    inParallel(5) { number in
                        if number == 0 {
                            for _ in 0..<6000 where steps.withLock({ $0 }) < last { usleep(5000) }
                            usleep(UInt32.random(in: 0...40_000))
                            server.signal(SIGKILL)
                            isOver.withLock { $0 = true }
                            return
                        }
                        while !isOver.withLock({ $0 }) {
                            var applicant = Applicant()
                            var device = Device(server: server, machine: applicant.machine)
                            if let answer = try? device.register(key, nonce: applicant.nonce), answer.status == 201 {
                                applicant.uuid = device.uuid
                                steps.withLock { $0 += 1 }
                                if (try? device.authenticate())?.status == 200 {
                                    steps.withLock { $0 += 1 }
                                    let report = Device.report(Device.id())
                                    if (try? device.upload(report))?.status == 201 {
                                        steps.withLock { $0 += 1 }
                                        stored.withLock { $0.append(report["id"]?.string ?? "") }
                                    }
                                }
                            }
                            let done = applicant
                            applicants.withLock { $0.append(done) }
                        }
                    }
                    server.wait()
                }
                let server = try ServerProcess(folder: folder)
                defer { server.stop() }
                let all = applicants.withLock { $0 }
                var clients: Set<String> = []
                for applicant in all {
                    // Whoever was left without an answer asks again; whoever had one gets the same.
                    var device = Device(server: server, machine: applicant.machine)
                    #expect(try device.register(key, nonce: applicant.nonce).status == 201)
                    if let uuid = applicant.uuid { #expect(uuid == device.uuid) }
                    clients.insert(device.uuid)
                }
                #expect(clients.count == all.count)
                #expect(all.contains { $0.uuid != nil } && all.contains { $0.uuid == nil })
                #expect(try server.adminJSON("key", "list")[0]?["used"]?.int64 == Int64(all.count))
                #expect(try server.adminJSON("client", "list").array?.count == all.count)
                let kept = try Set((server.adminJSON("measurement", "list").array ?? []).compactMap { $0["id"]?.string })
                let acknowledged = Set(stored.withLock { $0 })
                #expect(!acknowledged.isEmpty)
                #expect(acknowledged.isSubset(of: kept))
            }
        }

        @Test func aFullDiskRefusesAndLosesNothing() async throws {
            try await blocking {
                let folder = try TemporaryFolder()
                let disk = "\(folder.path)/disk"
                try ChildProcess.run("mkdir", disk)
                try ChildProcess.run("mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk)
                defer { _ = try? ChildProcess.run("umount", disk) }
                let server = try ServerProcess(data: "\(disk)/data")
                defer { server.stop() }
                let key = try server.key("--devices", "100")
                let device = try Device.ready(server, key: key)
                var report = Device.report(Device.id())
                var stored = 0
                var last: Response?
                for _ in 0..<100 {
                    let id = Device.id()
                    report["id"] = .string(id)
                    report["filling"] = .string(Device.hex(100_000))
                    last = try device.upload(id, JSONValue.object(report).utf8())
                    guard last?.status == 201 else { break }
                    stored += 1
                }
                #expect(last?.code == "storage_full")
                #expect(last?.header("retry-after") != nil)
                #expect(stored > 3)
                #expect(try server.send("GET", "/health").status == 200)
                var codes: Set<String> = []
                for _ in 0..<40 {
                    var other = Device(server: server)
                    codes.insert(try other.register(key).code ?? "registered")
                }
                #expect(codes.contains("storage_full"))
                try ChildProcess.run("mount", "-o", "remount,size=30m", disk)
                let after = Device.report(Device.id())
                #expect(try device.upload(after).status == 201)
                #expect(try server.adminJSON("measurement", "list").array?.count == stored + 1)
                let used = try server.adminJSON("key", "list")[0]?["used"]?.int64
                #expect(try server.adminJSON("client", "list").array.map { Int64($0.count) } == used)
                try APIDocument.check()
            }
        }

        /// What was asked before the end is answered.
        @Test func theEndIsGraceful() async throws {
            try await blocking {
                let server = try ServerProcess()
                let key = try server.key()
                let connections = try (0..<12).map { _ in try RawConnection(port: server.port) }
                for connection in connections {
                    connection.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(connection.response()?.status == 200)
                }
                let idle = try RawConnection(port: server.port)
                for connection in connections {
                    let body = JSONValue.object(
                        ["registration_key": .string(key), "machine": .string(Device.hex(64)), "nonce": .string(Device.hex(32))]
                    ).text()
                    connection.send(
                        "POST \(Device.base)/registrations HTTP/1.1\r\nHost: x\r\n\(Device.json)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                }
                // One answer shows that the others' requests, sent before, have been read.
                #expect(connections[11].response()?.status == 201)
                server.signal(SIGTERM)
                for connection in connections.dropLast() { #expect(connection.response()?.status == 201) }
                #expect(server.wait() == 0)
                #expect(idle.readAll().isEmpty)
            }
        }
    }
}
