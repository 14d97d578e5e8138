internal import MeasurementModel

/// The pages for people: made on the server, without scripts, from nothing but this server.
struct Dashboard: Sendable {
    let service: Service
    let keeper: SessionKeeper

    init(service: Service, isSecure: Bool) {
        self.service = service
        keeper = SessionKeeper(service: service, isSecure: isSecure)
    }

    var routes: [Route] {
        let form = 16 << 10
        return [
            Route(.get, "/style.css") { _ in
                ServerResponse(
                    200, headers: [("Content-Type", "text/css; charset=utf-8"), ("Cache-Control", "max-age=300")],
                    body: Array(Stylesheet.text.utf8))
            },
            Route(.get, "/login", handle: loginPage),
            Route(.post, "/login", lane: .hashing, bodyLimit: form, handle: login),
            Route(.post, "/logout", bodyLimit: form) {
                try post($0) { session, _ in Page.redirect("/login", cookies: [try keeper.end(session)]) }
            },
            Route(.get, "/") { try page($0, overview) },
            Route(.get, "/keys") { try page($0, keys) },
            Route(.get, "/clients") { try page($0, clients) },
            Route(.get, "/clients/*") { try page($0, client) },
            Route(.post, "/clients/*/disable", bodyLimit: form) { request in try post(request) { try disable(request, $0, $1) } },
            Route(.post, "/clients/*/enable", bodyLimit: form) { request in try post(request) { session, _ in try enable(request, session) }
            },
            Route(.get, "/measurements") { try page($0, measurements) },
            Route(.get, "/measurements/*") { try page($0, measurement) },
            Route(.get, "/measurements/*/report.json") { try page($0, report) },
        ]
    }

    /// A page for whoever is logged in; others are sent to the login.
    private func page(
        _ request: ServerRequest, _ make: (ServerRequest, Session) throws -> ServerResponse
    ) throws -> ServerResponse {
        guard let session = try keeper.session(request) else { return Page.redirect("/login") }
        return try make(request, session)
    }

    /// A form: only from a page of this server, for whoever is logged in.
    private func post(
        _ request: ServerRequest, _ act: (Session, [String: String]) throws -> ServerResponse
    ) throws -> ServerResponse {
        guard let session = try keeper.session(request) else { return Page.redirect("/login") }
        let fields = Self.fields(request)
        guard SessionKeeper.isSameOrigin(request), let given = fields["guard"], Hash.areEqual(session.guardToken, given) else {
            return notice(
                403, "Not done", "The form did not come from a page of this session. Go back, load the page again, and repeat it.", session)
        }
        return try act(session, fields)
    }

    static func fields(_ request: ServerRequest) -> [String: String] {
        guard request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
            let text = String(validating: request.body, as: UTF8.self), let pairs = FormText.pairs(text)
        else { return [:] }
        return Dictionary(pairs.map { ($0.name, $0.value) }) { _, last in last }
    }

    func notice(_ status: Int, _ title: String, _ text: String, _ session: Session?) -> ServerResponse {
        Page.respond(status, title: title, session: session, "<h1>\(title)</h1>\n<p>\(text)</p>\n<p><a href=\"/\">Overview</a></p>")
    }
}
