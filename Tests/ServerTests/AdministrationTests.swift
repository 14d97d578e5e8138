import Glibc
import LabSupport
import MeasurementModel
import Testing

extension ServerSuites {
    /// The commands for whoever runs the server.
    @Suite struct AdministrationTests {
        @Test func helpAndExitCodes() async throws {
            try await blocking {
                let help = try ServerBinary.run(["--help"])
                for command in ["serve", "key create", "client disable", "measurement export", "capability create", "user add"] {
                    #expect(help.contains(command))
                    #expect(try ServerBinary.run(command.split(separator: " ").map(String.init) + ["--help"]).contains("Usage:"))
                }
                #expect(try ServerBinary.run(["key", "--help"]).contains("key revoke KEY"))
                for words in [
                    [], ["nonsense"], ["key"], ["key", "create", "--devices", "0"], ["key", "create", "x"], ["client", "show"],
                    ["key", "create", "--valid-from", "soon"], ["serve", "--listen", "nowhere", "--data", "/tmp"],
                    ["key", "list", "--bad"],
                    ["serve", "--tls-cert", "x"],
                ] {
                    let output = try ServerBinary.run(words, expecting: 2)
                    #expect(output.hasPrefix("fieldprobe-server: "), "\(words): \(output)")
                }
                let folder = try TemporaryFolder()
                #expect(try ServerBinary.run(["key", "list", "--data", "\(folder.path)/a/b"], expecting: 3).contains("--data"))
                let data = ["--data", "\(folder.path)/data"]
                #expect(try ServerBinary.run(["client", "show", "00"] + data, expecting: 4).contains("client list"))
                try ServerBinary.run(["key", "revoke", "fp-x"] + data, expecting: 4)
                try ServerBinary.run(["key", "create", "--capability", "none"] + data, expecting: 4)
                try ServerBinary.run(["measurement", "show", "x"] + data, expecting: 4)
                try ServerBinary.run(["capability", "create", "web"] + data)
                #expect(try ServerBinary.run(["capability", "create", "web"] + data, expecting: 1).contains("--replace"))
            }
        }

        @Test func everyListIsJSON() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "2", "--note", "for the vans")
                let device = try Device.ready(server, key: key, label: "van \u{1F690}")
                _ = try device.upload(Device.report(Device.id()))
                for words in [["key", "list"], ["client", "list"], ["measurement", "list"], ["capability", "list"]] {
                    let json = try JSONValue(parsing: ServerBinary.run(words + ["--data", server.data, "--json"]))
                    #expect(json.array != nil)
                    try ServerBinary.run(words + ["--data", server.data])
                }
                let listed = try server.adminJSON("key", "list")[0]
                #expect(listed?["note"]?.string == "for the vans")
                // The key itself is shown once, and not kept.
                #expect(listed?["key"] == nil)
                #expect(try server.adminJSON("client", "show", device.uuid)["label"]?.string == "van \u{1F690}")
                #expect(try server.adminJSON("client", "list", "--match", "VAN").array?.count == 1)
                #expect(try server.adminJSON("client", "list", "--state", "disabled").array?.isEmpty == true)
                #expect(try server.adminJSON("measurement", "list", "--type", "VIDEO").array?.isEmpty == true)
                #expect(try server.adminJSON("measurement", "list", "--client", device.uuid).array?.count == 1)
            }
        }

        /// A slot that is free is not given twice.
        @Test func enablingTakesASlotAgain() async throws {
            try await ServerProcess.with { server in
                let key = try server.key("--devices", "1")
                let first = try Device.ready(server, key: key)
                try server.admin("client", "disable", first.uuid)
                let second = try Device.ready(server, key: key)
                #expect(try server.admin("client", "enable", first.uuid, expecting: 1).contains("no free slot"))
                #expect(try second.unregister().status == 204)
                try server.admin("client", "enable", first.uuid)
                try server.sql("UPDATE clients SET usage_until = 1000")
                // Disabled beats elapsed: the device must not be told to register again.
                try server.admin("client", "disable", first.uuid)
                var device = first
                #expect(try device.authenticate().code == "client_disabled")
                #expect(try server.admin("client", "enable", first.uuid, expecting: 1).contains("usage window"))
            }
        }

        @Test func whatIsKeptIsClosedToOthersAndUnreadable() async throws {
            try await ServerProcess.with { server in
                let key = try server.key()
                let device = try Device.ready(server, key: key, label: "roof")
                try server.admin("user", "add", "admin", input: "correct horse battery\n")
                #expect(try server.admin("user", "add", "admin", input: "short\n", expecting: 2).contains("10 characters"))
                #expect(Files.mode(server.data) == 0o700)
                for name in ["fieldprobe.sqlite3", "fieldprobe.sqlite3-wal", "server-key.pem"] {
                    #expect(Files.mode("\(server.data)/\(name)") == 0o600, "\(name)")
                }
                let kept = try ["fieldprobe.sqlite3", "fieldprobe.sqlite3-wal"].flatMap { try Files.octets("\(server.data)/\($0)") }
                let text = String(decoding: kept, as: UTF8.self)
                #expect(text.contains("roof"))
                for secret in [String(key.suffix(26)), device.secret, device.token, "correct horse battery"] {
                    #expect(!text.contains(secret))
                }
            }
        }

        @Test func aDamagedKeyOrADatabaseOfTheFutureStopsTheServer() async throws {
            try await blocking {
                let server = try ServerProcess()
                server.stop()
                try server.sql("PRAGMA user_version = 99")
                let serve = ["serve", "--listen", "127.0.0.1:0", "--data", server.data]
                #expect(try ServerBinary.run(serve, expecting: 3).contains("newer"))
                try server.sql("PRAGMA user_version = 1")
                #expect(try ServerBinary.run(["key", "list", "--data", server.data]).contains("KEY"))
                try ChildProcess.run("sh", "-c", "echo nonsense > \(server.data)/server-key.pem")
                #expect(try ServerBinary.run(serve, expecting: 3).contains("restore"))
            }
        }

        @Test func systemdHandsOverASocketAndIsToldTheState() async throws {
            try await blocking {
                let folder = try TemporaryFolder()
                let output = try ChildProcess.run(
                    "/usr/bin/python3", "\(APIDocument.tools)/activation.py", ServerBinary.path, "\(folder.path)/data")
                #expect(output.contains("READY=1"))
                #expect(output.contains("WATCHDOG=1"))
                #expect(output.contains("STOPPING=1"))
                #expect(output.contains("health 200"))
                #expect(output.contains("ended 0"))
            }
        }

        @Test func tlsIsOffered() async throws {
            try await blocking {
                let folder = try TemporaryFolder()
                let key = "\(folder.path)/key.pem"
                let certificate = "\(folder.path)/cert.pem"
                try ChildProcess.run(
                    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                    "-out",
                    certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
                let server = try ServerProcess(["--tls-cert", certificate, "--tls-key", key])
                defer { server.stop() }
                let output = try ChildProcess.run("/usr/bin/python3", "\(APIDocument.tools)/tls.py", certificate, String(server.port))
                #expect(output.contains("health 200"))
                #expect(output.contains("old TLS refused"))
                #expect(output.contains("__Host-fieldprobe-login"))
                #expect(output.contains("Secure"))
                let bad = ["serve", "--listen", "127.0.0.1:0", "--data", server.data, "--tls-cert", key, "--tls-key", certificate]
                #expect(try ServerBinary.run(bad, expecting: 5).contains("PEM"))
            }
        }
    }
}
