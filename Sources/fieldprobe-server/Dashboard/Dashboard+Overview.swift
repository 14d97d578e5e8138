internal import MeasurementModel

extension Dashboard {
    func overview(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        let now = service.now()
        let totals = try service.store.totals(now: now)
        let latest = try service.store.measurements(MeasurementQuery(limit: 12))
        func card(_ number: String, _ what: String, _ more: String, _ path: String) -> Markup {
            "<a class=\"card\" href=\"\(path)\"><strong>\(number)</strong><span>\(what)</span><small>\(more)</small></a>\n"
        }
        let disabled = totals.clients[.disabled] ?? 0
        let elapsed = totals.clients[.elapsed] ?? 0
        let cards = [
            card(String(totals.clients[.active] ?? 0), "active clients", "\(disabled) disabled, \(elapsed) elapsed", "/clients"),
            card(String(totals.measurementsToday), "measurements in 24 hours", "\(totals.measurements) in all", "/measurements"),
            card(String(totals.keys), "registration keys", "not revoked", "/keys"),
            card(Numbers.size(totals.octets), "of reports", "unpacked", "/measurements"),
        ]
        return Page.respond(
            title: "Overview", session: session, section: .overview,
            """
            <h1>Overview</h1>
            <div class="cards">
            \(cards)</div>
            <h2>Latest measurements</h2>
            \(MeasurementTable.rows(latest))
            """)
    }

    func keys(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        let now = service.now()
        let keys = try service.store.keys(now: now)
        let rows = keys.map { key -> [Markup] in
            let state = key.state(now: now)
            let window: Markup =
                switch (key.validFrom, key.validUntil) {
                case (nil, nil): "any time"
                case (let from?, nil): "from \(from.short)"
                case (nil, let until?): "until \(until.short)"
                case (let from?, let until?): "\(from.short) to \(until.short)"
                }
            return [
                "<a href=\"/clients?key=\(key.id)\"><code>fp-\(key.id)-…</code></a>",
                "<span class=\"state \(state == "open" ? "good" : "bad")\">\(state)</span>",
                slots(key), "\(key.usageDays.map { "\($0) days" } ?? "unlimited")", window, "\(key.capability ?? "everything")",
                "\(key.note ?? "")",
            ]
        }
        return Page.respond(
            title: "Keys", session: session, section: .keys,
            """
            <h1>Registration keys</h1>
            \(Page.table(["Key", "State", "Slots taken", "Use by device", "Accepts registrations", "May measure", "Note"], rows, empty: "There is no key yet."))
            <p class="hint">Keys are made on the server: <code>fieldprobe-server key create --devices 10</code></p>
            """)
    }

    private func slots(_ key: RegistrationKey) -> Markup {
        guard let devices = key.devices else { return "\(key.used) of any number" }
        return "<meter min=\"0\" max=\"\(devices)\" value=\"\(min(key.used, devices))\"></meter> \(key.used) of \(devices)"
    }
}
