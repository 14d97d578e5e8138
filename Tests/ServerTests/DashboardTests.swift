import LabSupport
import MeasurementModel
import Testing

extension ServerSuites {
    /// The pages for people.
    @Suite struct DashboardTests {
        private static let hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&"

        @Test func nothingIsShownWithoutALogin() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key(), label: "roof")
                var visitor = Visitor(server)
                for path in [
                    "/", "/keys", "/clients", "/clients/\(device.uuid)", "/measurements", "/measurements/x", "/measurements/x/report.json",
                ] {
                    let answer = try visitor.get(path)
                    #expect(answer.status == 303)
                    #expect(answer.header("location") == "/login")
                    #expect(answer.body.isEmpty)
                }
                #expect(try visitor.post("/clients/\(device.uuid)/disable", []).header("location") == "/login")
                visitor.cookies["fieldprobe"] = String(repeating: "A", count: 43)
                #expect(try visitor.get("/").status == 303)
                #expect(try server.adminJSON("client", "show", device.uuid)["state"]?.string == "active")
                // Tokens of devices open nothing here.
                let bearer = ["Authorization: Bearer \(device.token)"]
                #expect(try server.send("GET", "/clients", headers: bearer).status == 303)
            }
        }

        @Test func loginAndLogout() async throws {
            try await ServerProcess.with { server in
                var visitor = try Visitor.admitted(server)
                let cookie = try #require(visitor.cookies["fieldprobe"])
                #expect(try visitor.get("/").status == 200)
                var stranger = Visitor(server)
                #expect(try stranger.logIn("admin", "wrong password").status == 403)
                #expect(try stranger.logIn("nobody", Visitor.password).status == 403)
                #expect(try stranger.logIn("' OR 1=1 --", "' OR 1=1 --").status == 403)
                #expect(stranger.cookies["fieldprobe"] == nil)
                // The login form has a guard of its own: tied to a cookie, and not to any other.
                #expect(try stranger.post("/login", [("name", "admin"), ("password", Visitor.password)]).status == 403)
                var other = Visitor(server)
                let token = try Visitor.guardToken(try other.get("/login"))
                #expect(try stranger.post("/login", [("guard", token), ("name", "admin"), ("password", Visitor.password)]).status == 403)

                #expect(try visitor.post("/logout", [("guard", try Visitor.guardToken(try visitor.get("/")))]).status == 303)
                var thief = Visitor(server)
                thief.cookies["fieldprobe"] = cookie
                #expect(try thief.get("/").status == 303)
            }
        }

        @Test func aNewPasswordEndsOldSessionsAndTriesAreLimited() async throws {
            try await ServerProcess.with(["--logins-per-minute", "4"]) { server in
                var visitor = try Visitor.admitted(server)
                try server.admin("user", "add", "admin", input: "another password\n")
                #expect(try visitor.get("/").status == 303)
                var stranger = Visitor(server)
                let answers = try (0..<5).map { _ in try stranger.logIn("admin", "guess").status }
                #expect(answers.last == 429)
                #expect(try stranger.logIn("admin", "another password").status == 429)
            }
        }

        @Test func headersKeepBrowsersOnTheSafeSide() async throws {
            try await ServerProcess.with { server in
                var visitor = Visitor(server)
                let login = try visitor.get("/login")
                let cookie = try #require(login.header("set-cookie"))
                #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
                #expect(!cookie.contains("Secure"))
                visitor = try Visitor.admitted(server)
                for path in ["/", "/keys", "/clients", "/measurements", "/measurements/none", "/login"] {
                    let page = try visitor.get(path)
                    guard page.status != 303 else { continue }
                    let policy = try #require(page.header("content-security-policy"))
                    #expect(policy.hasPrefix("default-src 'none'; style-src 'self'"))
                    #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"))
                    #expect(page.header("cache-control") == "no-store")
                    #expect(page.header("x-content-type-options") == "nosniff")
                    #expect(!page.text.contains("<script") && !page.text.contains("style=") && !page.text.contains("http"))
                }
                #expect(try visitor.get("/style.css").header("content-type")?.hasPrefix("text/css") == true)
            }
        }

        @Test func formsOfOthersDoNothing() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                var visitor = try Visitor.admitted(server)
                let path = "/clients/\(device.uuid)"
                let token = try Visitor.guardToken(try visitor.get(path))
                var second = Visitor(server)
                _ = try second.logIn()
                let foreign = try Visitor.guardToken(try second.get(path))
                let attempts: [(fields: [(String, String)], headers: [String])] = [
                    ([], []), ([("guard", "")], []), ([("guard", foreign)], []), ([("guard", String(token.dropLast()))], []),
                    ([("guard", token)], ["Origin: https://evil.example"]), ([("guard", token)], ["Origin: null"]),
                    ([("guard", token)], ["Sec-Fetch-Site: cross-site"]), ([("guard", token)], ["Sec-Fetch-Site: same-site"]),
                ]
                for attempt in attempts {
                    #expect(try visitor.post(path + "/disable", attempt.fields, headers: attempt.headers).status == 403)
                }
                let json = ["Content-Type: application/json", "Cookie: fieldprobe=\(visitor.cookies["fieldprobe"]!)"]
                #expect(try server.send("POST", path + "/disable", headers: json, body: Array("guard=\(token)".utf8)).status == 403)
                #expect(try visitor.get(path + "/disable").status == 405)
                #expect(try server.adminJSON("client", "show", device.uuid)["state"]?.string == "active")

                let origin = ["Origin: http://127.0.0.1:\(server.port)", "Sec-Fetch-Site: same-origin"]
                #expect(
                    try visitor.post(path + "/disable", [("guard", token), ("reason", "Lost & <gone>")], headers: origin).status == 303)
                #expect(try server.adminJSON("client", "show", device.uuid)["disabled_reason"]?.string == "Lost & <gone>")
                #expect(try visitor.get(path).text.contains("Lost &amp; &lt;gone&gt;"))
                #expect(try visitor.post(path + "/enable", [("guard", token)]).status == 303)
                #expect(try visitor.post("/clients/\(Device.id())/enable", [("guard", token)]).status == 404)
            }
        }

        @Test func whatDevicesWriteIsShownAndNeverRun() async throws {
            try await ServerProcess.with { server in
                try server.admin("capability", "create", Self.hostile)
                var device = Device(server: server)
                let request: JSONObject = [
                    "registration_key": .string(try server.key("--note", Self.hostile, "--capability", Self.hostile)),
                    "label": .string(Self.hostile), "tags": .strings([Self.hostile]), "machine": .string(device.machine),
                    "nonce": .string(Device.hex(32)),
                ]
                let registered = try server.send("POST", "\(Device.base)/registrations", json: .object(request)).json
                device.uuid = registered?["client_uuid"]?.string ?? ""
                device.secret = registered?["secret"]?.string ?? ""
                try device.authenticate()
                try server.admin("client", "disable", device.uuid, "--reason", Self.hostile)
                try server.admin("client", "enable", device.uuid)
                let text = JSONValue.string(Self.hostile)
                let id = Device.id()
                var report = Device.report(id, type: Self.hostile, subject: Self.hostile)
                let snapshot: JSONObject = [
                    "offset_ms": .integer(5), "type": text, "interface": text, "ssid": text, "ip_address": text, "operator": text,
                    "rssi": .integer(-50),
                ]
                report["connection_detail_trace"] = .array([.object(snapshot), text, .object(["offset_ms": text])])
                report["geolocation_trace"] = .array([
                    .object(["latitude": .integer(0), "longitude": .integer(0), "offset_ms": text]),
                    .object(["latitude": .integer(900), "longitude": .integer(0)]), .object(["latitude": text, "longitude": text]),
                ])
                let gap = JSONValue.object(["from_offset_ms": .integer(1), "reason": text])
                report["collectors"] = .array([
                    .object([
                        "name": text, "trace": .string("connection_detail_trace"), "state": text, "reason": text, "gaps": .array([gap]),
                    ]),
                    text,
                ])
                report["result"] = .object([Self.hostile: text, "lines": .string(Self.hostile + "\n" + Self.hostile)])
                report["permissions"] = .object([Self.hostile: .bool(true), "purpose": text])
                report["target"] = .object(["host": text])
                report["duration_ms"] = text
                #expect(try device.upload(report).status == 201)

                var visitor = try Visitor.admitted(server)
                let query = "?match=\(Visitor.encoded(Self.hostile))"
                let pages = [
                    "/", "/keys", "/clients", "/clients\(query)", "/clients\(query.replacing("match", with: "key"))",
                    "/clients/\(device.uuid)",
                    "/measurements", "/measurements?type=\(Visitor.encoded(Self.hostile))",
                    "/measurements\(query.replacing("match", with: "client"))",
                    "/measurements/\(id)",
                ]
                for path in pages {
                    let page = try visitor.get(path)
                    #expect(page.status == 200, "\(path)")
                    #expect(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;"), "\(path)")
                    #expect(!page.text.contains("<script") && !page.text.contains("<img"), "\(path)")
                }
                let saved = try visitor.get("/measurements/\(id)/report.json")
                #expect(saved.json?["type"] == text)
                #expect(saved.header("content-disposition") == "attachment; filename=\"\(id).json\"")
            }
        }

        @Test func pagesGoOnWhereOneEnds() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                for _ in 0..<60 { _ = try device.upload(Device.report(Device.id())) }
                var visitor = try Visitor.admitted(server)
                func rows(_ page: Response) -> Int { page.text.split(separator: "<tr><td").count - 1 }
                let first = try visitor.get("/measurements?type=WEB")
                #expect(rows(first) == 50)
                #expect(first.text.contains("href=\"/measurements?type=WEB&amp;page=2\""))
                #expect(try rows(visitor.get("/measurements?type=WEB&page=2")) == 10)
                #expect(try visitor.get("/measurements?page=99999999999999").status == 200)
                #expect(try visitor.get("/measurements?page=-1").status == 200)
            }
        }

        /// Real pages in a real browser: light and dark, wide and narrow, with hostile texts; no script runs and nothing is asked elsewhere.
        @Test func aBrowserShowsThem() async throws {
            try await ServerProcess.with { server in
                try server.admin("user", "add", "admin", input: Visitor.password + "\n")
                let output = try ChildProcess.run(
                    "/usr/bin/python3", "\(APIDocument.tools)/dashboard.py", "http://127.0.0.1:\(server.port)",
                    try server.key("--devices", "9"),
                    Visitor.password)
                #expect(output.contains("no fault"))
                #expect(try server.adminJSON("client", "list", "--state", "disabled").array?.count == 1)
            }
        }
    }
}
