internal import MeasurementModel
internal import ProbeLog

extension Dashboard {
    private static let pageSize = 50

    func clients(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        let page = Self.pageNumber(request)
        var query = ClientQuery(
            keyID: request.target.value("key"), state: request.target.value("state").flatMap { Client.State(rawValue: $0) },
            text: request.target.value("match"))
        query.limit = Self.pageSize + 1
        query.offset = (page - 1) * Self.pageSize
        let found = try service.store.clients(query, now: service.now())
        let rows = found.prefix(Self.pageSize).map { client -> [Markup] in
            [
                "<a href=\"/clients/\(client.uuid)\">\(client.label ?? String(client.uuid.prefix(8)) + "…")</a>", Self.state(client),
                Self.tags(client), Page.time(client.lastSeenAt, or: "never"), Page.time(client.registeredAt),
                Page.time(client.usageUntil, or: "unlimited"), "<code>fp-\(client.keyID)-…</code>",
            ]
        }
        let states = Client.State.allCases.map { state -> Markup in
            query.state == state ? "<option selected>\(state.rawValue)</option>" : "<option>\(state.rawValue)</option>"
        }
        let parameters = [("key", query.keyID), ("state", query.state?.rawValue), ("match", query.text)]
        let keyField = query.keyID.html { "<label>Key <input name=\"key\" value=\"\($0)\"></label>" }
        return Page.respond(
            title: "Clients", session: session, section: .clients,
            """
            <h1>Clients</h1>
            <form class="filter" method="get" action="/clients">
            <label>Label or UUID <input name="match" value="\(query.text ?? "")"></label>
            <label>State <select name="state"><option value="">any</option>\(states)</select></label>
            \(keyField)<button>Show</button>
            </form>
            \(Page.table(["Client", "State", "Tags", "Last seen (UTC)", "Registered (UTC)", "Usage until (UTC)", "Key"], rows, empty: "No client matches."))
            \(Page.paging("/clients", parameters, page: page, hasMore: found.count > Self.pageSize))
            """)
    }

    static func pageNumber(_ request: ServerRequest) -> Int {
        request.target.value("page").flatMap { Int($0) }.map { min(max(1, $0), 100_000) } ?? 1
    }

    static func state(_ client: Client) -> Markup {
        switch client.state {
        case .active: "<span class=\"state good\">active</span>"
        case .disabled: "<span class=\"state bad\">disabled</span>"
        case .elapsed: "<span class=\"state off\">elapsed</span>"
        }
    }

    static func tags(_ client: Client) -> Markup { "\(client.tags.map { "<span class=\"tag\">\($0)</span> " as Markup })" }

    func client(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        guard let client = try service.store.client(request.parameters[0], now: service.now()) else { return unknownClient(session) }
        let latest = try service.store.measurements(MeasurementQuery(clientUUID: client.uuid, limit: 12))
        let facts = Page.facts([
            ("State", Self.state(client)), ("Reason", client.disabledReason.map { "\($0)" }), ("UUID", "<code>\(client.uuid)</code>"),
            ("Tags", client.tags.isEmpty ? nil : Self.tags(client)), ("Key", "<code>fp-\(client.keyID)-…</code>"),
            ("Last seen", "\(client.lastSeenAt.map { $0.short + " UTC" } ?? "never")"),
            ("Registered", "\(client.registeredAt.short) UTC"), ("Usage until", client.usageUntil.map { "\($0.short) UTC" }),
            ("Disabled", client.disabledAt.map { "\($0.short) UTC" }),
        ])
        return Page.respond(
            title: client.label ?? client.uuid, session: session, section: .clients,
            """
            <h1>\(client.label ?? "Client without a label")</h1>
            \(facts)
            \(Self.form(client, session))
            <h2>Latest measurements</h2>
            \(MeasurementTable.rows(latest))
            <p><a href="/measurements?client=\(client.uuid)">All measurements of this client</a></p>
            """)
    }

    private static func form(_ client: Client, _ session: Session) -> Markup {
        switch client.state {
        case .active:
            """
            <form class="action" method="post" action="/clients/\(client.uuid)/disable">\(session.guardField)
            <label>Reason <input name="reason" maxlength="200" placeholder="Told to the device"></label>
            <button class="danger">Disable this client</button>
            <p class="hint">It stops measuring when it next reaches the server, discards what it has not sent, and its slot is free.</p>
            </form>
            """
        case .disabled:
            """
            <form class="action" method="post" action="/clients/\(client.uuid)/enable">\(session.guardField)
            <button>Enable this client</button>
            <p class="hint">It takes a slot of its key again. A device that has noticed already has discarded its credentials.</p>
            </form>
            """
        case .elapsed: "<p class=\"hint\">Its usage window is over and its slot is free. The device may register again.</p>"
        }
    }

    func disable(_ request: ServerRequest, _ session: Session, _ fields: [String: String]) throws -> ServerResponse {
        let uuid = request.parameters[0]
        let reason = fields["reason"].flatMap { $0.isEmpty ? nil : String($0.prefix(200)) }
        let change = try service.store.disable(uuid, reason: reason, now: service.now())
        return outcome(change, uuid, session, "client disabled")
    }

    func enable(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        let uuid = request.parameters[0]
        return outcome(try service.store.enable(uuid, now: service.now()), uuid, session, "client enabled")
    }

    private func outcome(_ change: ClientChange, _ uuid: String, _ session: Session, _ message: StaticString) -> ServerResponse {
        switch change {
        case .done, .unchanged:
            service.log.info(message, ("client", uuid), ("by", session.user))
            return Page.redirect("/clients/\(uuid)")
        case .unknown: return unknownClient(session)
        case .elapsed: return notice(409, "Not done", "The client's usage window is over: its device has to register again.", session)
        case .exhausted:
            return notice(409, "Not done", "The client's key has no free slot. Disable or unregister another client first.", session)
        }
    }

    private func unknownClient(_ session: Session) -> ServerResponse {
        notice(404, "No such client", "It was never registered here, or it has unregistered itself.", session)
    }
}
