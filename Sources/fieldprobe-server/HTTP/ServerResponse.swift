internal import MeasurementModel

struct ServerResponse: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    init(_ status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Answers of the client API carry secrets and tokens: nobody may keep them.
    static func json(_ status: Int, _ object: JSONObject) -> ServerResponse {
        ServerResponse(
            status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: JSONValue.object(object).utf8())
    }

    static func problem(_ code: ProblemCode, _ detail: String? = nil, retryAfter: Int? = nil) -> ServerResponse {
        let document: JSONObject = [
            "type": .string("about:blank"), "title": .string(code.title), "status": .integer(code.status), "code": .string(code.rawValue),
            "detail": .string(detail ?? code.advice),
        ]
        var response = json(code.status, document)
        response.headers[0].value = "application/problem+json"
        if let retryAfter { response.headers.append(("Retry-After", String(retryAfter))) }
        if code.status == 401 { response.headers.append(("WWW-Authenticate", "Bearer")) }
        return response
    }
}

/// A refusal as an error: whoever notices it need not hand it on.
struct Problem: Error {
    let code: ProblemCode
    var detail: String?
    var retryAfter: Int?

    init(_ code: ProblemCode, _ detail: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }

    var response: ServerResponse { .problem(code, detail, retryAfter: retryAfter) }
}
