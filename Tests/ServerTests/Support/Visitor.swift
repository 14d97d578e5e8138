import LabSupport
import MeasurementModel

/// Somebody at the dashboard, with the cookies that the server has set.
struct Visitor {
    let server: ServerProcess
    var cookies: [String: String] = [:]

    init(_ server: ServerProcess) { self.server = server }

    private mutating func send(_ method: String, _ path: String, _ headers: [String], _ body: String = "") throws -> Response {
        let jar = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let response = try server.send(method, path, headers: (jar.isEmpty ? [] : ["Cookie: \(jar)"]) + headers, body: Array(body.utf8))
        for cookie in response.all("set-cookie") {
            let pair = cookie.split(separator: ";")[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            cookies[pair[0]] = pair[1].isEmpty ? nil : pair[1]
        }
        return response
    }

    mutating func get(_ path: String) throws -> Response { try send("GET", path, []) }

    mutating func post(_ path: String, _ fields: [(String, String)], headers: [String] = []) throws -> Response {
        let form = fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        return try send("POST", path, ["Content-Type: application/x-www-form-urlencoded"] + headers, form)
    }

    static func encoded(_ text: String) -> String {
        text.utf8.map { octet in
            let hex = String(octet, radix: 16)
            return "%" + (hex.count == 1 ? "0" + hex : hex)
        }.joined()
    }

    /// The token that guards the forms of a page.
    static func guardToken(_ page: Response) throws -> String {
        let mark = "name=\"guard\" value=\""
        guard let range = page.text.firstRange(of: mark) else { throw LabError("no form in the page: \(page.text)") }
        return String(page.text[range.upperBound...].prefix { $0 != "\"" })
    }

    static let password = "correct horse battery"

    mutating func logIn(_ name: String = "admin", _ password: String = Visitor.password) throws -> Response {
        let token = try Self.guardToken(try get("/login"))
        return try post("/login", [("guard", token), ("name", name), ("password", password)])
    }

    /// Somebody who may see everything.
    static func admitted(_ server: ServerProcess) throws -> Visitor {
        try server.admin("user", "add", "admin", input: password + "\n")
        var visitor = Visitor(server)
        let answer = try visitor.logIn()
        guard answer.status == 303, answer.header("location") == "/" else { throw LabError("not logged in: \(answer.status)") }
        return visitor
    }
}
