internal import MeasurementModel

/// Measurements in rows, as several pages show them.
enum MeasurementTable {
    static func rows(_ records: [MeasurementRecord]) -> Markup {
        let rows = records.map { record -> [Markup] in
            [
                "<a href=\"/measurements/\(record.id)\">\(Page.time(record.receivedAt))</a>", "\(record.type)", "\(record.subject)",
                ended(record.finishedReason), "<span class=\"number\">\(record.durationMilliseconds.map(Numbers.seconds) ?? "")</span>",
                "<a href=\"/clients/\(record.clientUUID)\">\(record.clientLabel ?? String(record.clientUUID.prefix(8)) + "…")</a>",
            ]
        }
        return Page.table(["Received (UTC)", "Type", "Subject", "Ended", "Duration", "Client"], rows, empty: "No measurement matches.")
    }

    static func ended(_ reason: String?) -> Markup {
        switch reason {
        case "completed": "<span class=\"state good\">completed</span>"
        case let reason?: "<span class=\"state bad\">\(reason)</span>"
        case nil: .empty
        }
    }
}

extension Dashboard {
    private static let pageSize = 50

    func measurements(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        let page = Self.pageNumber(request)
        var query = MeasurementQuery(
            clientUUID: request.target.value("client"), type: request.target.value("type"), subject: request.target.value("subject"))
        query.limit = Self.pageSize + 1
        query.offset = (page - 1) * Self.pageSize
        let found = try service.store.measurements(query)
        let kinds = try service.store.kinds()
        func options(_ names: [String], _ chosen: String?) -> [Markup] {
            var seen: Set<String> = []
            return names.filter { seen.insert($0).inserted }.map {
                $0 == chosen ? "<option selected>\($0)</option>" : "<option>\($0)</option>"
            }
        }
        let parameters = [("client", query.clientUUID), ("type", query.type), ("subject", query.subject)]
        let clientField = query.clientUUID.html { "<label>Client <input name=\"client\" value=\"\($0)\"></label>" }
        return Page.respond(
            title: "Measurements", session: session, section: .measurements,
            """
            <h1>Measurements</h1>
            <form class="filter" method="get" action="/measurements">
            <label>Type <select name="type"><option value="">any</option>\(options(kinds.map(\.type), query.type))</select></label>
            <label>Subject <select name="subject"><option value="">any</option>\(options(kinds.map(\.subject), query.subject))</select></label>
            \(clientField)<button>Show</button>
            </form>
            \(MeasurementTable.rows(Array(found.prefix(Self.pageSize))))
            \(Page.paging("/measurements", parameters, page: page, hasMore: found.count > Self.pageSize))
            """)
    }

    func measurement(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        guard let (record, document) = try service.store.measurement(request.parameters[0]) else { return unknownMeasurement(session) }
        let view = MeasurementView(record: record, report: try document.value())
        return Page.respond(title: "\(record.type) \(record.subject)", session: session, section: .measurements, view.markup)
    }

    /// As its device sent it, to be saved: it is never shown as a page of this origin.
    func report(_ request: ServerRequest, _ session: Session) throws -> ServerResponse {
        guard let (record, document) = try service.store.measurement(request.parameters[0]) else { return unknownMeasurement(session) }
        let headers = [
            ("Content-Type", "application/json"), ("Content-Disposition", "attachment; filename=\"\(record.id).json\""),
            ("Cache-Control", "no-store"), ("Content-Security-Policy", "default-src 'none'; sandbox"),
        ]
        return ServerResponse(200, headers: headers, body: try document.value().utf8(pretty: true))
    }

    private func unknownMeasurement(_ session: Session) -> ServerResponse {
        notice(404, "No such measurement", "This server has stored nothing under that identifier.", session)
    }
}
