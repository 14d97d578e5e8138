internal import MeasurementModel
internal import ProbeLog

extension Dashboard {
    func loginPage(_ request: ServerRequest) throws -> ServerResponse {
        if try keeper.session(request) != nil { return Page.redirect("/") }
        return loginForm(200, nil)
    }

    private func loginForm(_ status: Int, _ fault: String?) -> ServerResponse {
        let (cookie, token) = keeper.loginGuard()
        let faultLine = fault.html { "<p class=\"fault\" role=\"alert\">\($0)</p>\n" }
        var response = Page.respond(
            status, title: "Log in", session: nil,
            """
            <form class="login" method="post" action="/login">
            <h1>FieldProbe</h1>
            \(faultLine)<input type="hidden" name="guard" value="\(token)">
            <label>Name <input name="name" autocomplete="username" required autofocus maxlength="64"></label>
            <label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="1024"></label>
            <button>Log in</button>
            </form>
            """)
        response.headers.append(("Set-Cookie", cookie))
        return response
    }

    /// The hash of nothing: checked when there is no such user, because names can be guessed and the time of the answer must not tell.
    private static let nobody = SecretHash.make(Base64.urlText(RandomOctets.make(32)), cost: .password)

    func login(_ request: ServerRequest) throws -> ServerResponse {
        let fields = Self.fields(request)
        guard SessionKeeper.isSameOrigin(request), keeper.isLoginGuarded(request, fields["guard"]) else {
            return loginForm(403, "This form was out of date. Please try again.")
        }
        let name = fields["name"] ?? ""
        let password = fields["password"] ?? ""
        // By name as well: many addresses must not try one password each.
        for bucket in ["peer \(request.peer)", "name \(name.prefix(64))"] where service.loginsByPeer.take(bucket) != nil {
            service.log.warning("too many logins")
            return loginForm(429, "Too many tries. Please wait a minute.")
        }
        let stored = try service.store.password(ofUser: name)
        let isRight = SecretHash.matches(password, stored ?? Self.nobody)
        guard stored != nil, isRight else {
            service.log.warning("a login was refused", ("address", request.peer))
            return loginForm(403, "Name or password is wrong.")
        }
        return Page.redirect("/", cookies: [try keeper.begin(user: name)])
    }
}
