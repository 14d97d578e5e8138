internal import MeasurementModel

/// Somebody who is logged in.
struct Session: Sendable {
    let user: String
    /// The cookie's value. The database has only its digest.
    let value: String
    /// Goes with every form, and nobody can make it who does not see the pages: a foreign site cannot.
    let guardToken: String

    static let seconds: Int64 = 12 * 3600

    var guardField: Markup { "<input type=\"hidden\" name=\"guard\" value=\"\(guardToken)\">" }
}

/// Cookies, and the tokens that guard forms.
struct SessionKeeper: Sendable {
    let service: Service
    let isSecure: Bool

    /// The prefix makes browsers insist on HTTPS, on the whole path and on no wider domain.
    private var sessionCookie: String { isSecure ? "__Host-fieldprobe" : "fieldprobe" }
    private var loginCookie: String { isSecure ? "__Host-fieldprobe-login" : "fieldprobe-login" }

    private func cookie(_ name: String, _ value: String, seconds: Int64) -> String {
        "\(name)=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)" + (isSecure ? "; Secure" : "")
    }

    private func token(_ use: String, _ value: String) -> String {
        Base64.urlText(Hash.hmac(key: service.secrets.formKey, Array("\(use)\u{0}\(value)".utf8)))
    }

    func session(_ request: ServerRequest) throws -> Session? {
        guard let value = request.cookie(sessionCookie), value.utf8.count == 43,
            let user = try service.store.sessionUser(Hash.sha256(value), now: service.now())
        else { return nil }
        return Session(user: user, value: value, guardToken: token("session", value))
    }

    /// - Returns: the cookie of a new session.
    func begin(user: String) throws -> String {
        let value = Base64.urlText(RandomOctets.make(32))
        let now = service.now()
        try service.store.createSession(
            Hash.sha256(value), user: user, expiresAt: now.adding(milliseconds: Session.seconds * 1000), now: now)
        return cookie(sessionCookie, value, seconds: Session.seconds)
    }

    /// - Returns: the cookie that removes it.
    func end(_ session: Session) throws -> String {
        try service.store.endSession(Hash.sha256(session.value))
        return cookie(sessionCookie, "", seconds: 0)
    }

    /// A login form has no session yet: it is tied to a cookie of its own, or a foreign site could log somebody in under a name of its choice.
    func loginGuard() -> (cookie: String, token: String) {
        let value = Base64.urlText(RandomOctets.make(32))
        return (cookie(loginCookie, value, seconds: 3600), token("login", value))
    }

    func isLoginGuarded(_ request: ServerRequest, _ given: String?) -> Bool {
        guard let value = request.cookie(loginCookie), let given else { return false }
        return Hash.areEqual(token("login", value), given)
    }

    /// What a browser says about where a form came from, when it says something.
    static func isSameOrigin(_ request: ServerRequest) -> Bool {
        if let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none" { return false }
        guard let origin = request.headers["origin"] else { return true }
        guard let host = request.headers["host"] else { return false }
        // A proxy may speak HTTPS to the browser and HTTP to this server.
        return origin == "http://\(host)" || origin == "https://\(host)"
    }
}
