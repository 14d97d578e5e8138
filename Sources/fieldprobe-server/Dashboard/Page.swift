internal import MeasurementModel

/// What every page has around its content.
enum Page {
    enum Section: String, CaseIterable {
        case overview, keys, clients, measurements

        var path: String { self == .overview ? "/" : "/\(rawValue)" }
        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    /// Nothing is loaded but the server's own stylesheet, nothing is run, and no page can be framed. Reports are private: nobody keeps a copy.
    static let headers: [(String, String)] = [
        ("Content-Type", "text/html; charset=utf-8"),
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        ),
        ("Cache-Control", "no-store"), ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    static func respond(_ status: Int = 200, title: String, session: Session?, section: Section? = nil, _ content: Markup) -> ServerResponse
    {
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · FieldProbe</title>
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            \(session.html { header($0, section) })<main>
            \(content)
            </main>
            </body>
            </html>

            """
        return ServerResponse(status, headers: headers, body: Array(page.text.utf8))
    }

    private static func header(_ session: Session, _ section: Section?) -> Markup {
        let links = Section.allCases.map { entry -> Markup in
            entry == section
                ? "<a href=\"\(entry.path)\" aria-current=\"page\">\(entry.title)</a>" : "<a href=\"\(entry.path)\">\(entry.title)</a>"
        }
        return """
            <header>
            <a class="brand" href="/">FieldProbe</a>
            <nav>\(links)</nav>
            <form method="post" action="/logout">\(session.guardField)<button class="quiet">Log out \(session.user)</button></form>
            </header>

            """
    }

    static func redirect(_ path: String, cookies: [String] = []) -> ServerResponse {
        ServerResponse(303, headers: [("Location", path), ("Cache-Control", "no-store")] + cookies.map { ("Set-Cookie", $0) })
    }

    /// A table that becomes a list of cards on a narrow screen: each cell knows its column's name.
    static func table(_ titles: [String], _ rows: [[Markup]], empty: String) -> Markup {
        guard !rows.isEmpty else { return "<p class=\"none\">\(empty)</p>" }
        let head = titles.map { "<th scope=\"col\">\($0)</th>" as Markup }
        let body = rows.map { row in
            "<tr>\(zip(titles, row).map(cell))</tr>\n" as Markup
        }
        return "<table><thead><tr>\(head)</tr></thead><tbody>\n\(body)</tbody></table>"
    }

    private static func cell(_ title: String, _ content: Markup) -> Markup {
        content.text.isEmpty ? "<td></td>" : "<td data-label=\"\(title)\"><div>\(content)</div></td>"
    }

    /// A moment, which no line break divides.
    static func time(_ time: Timestamp?, or none: String = "") -> Markup {
        time.map { "<time datetime=\"\($0.description)\">\($0.short)</time>" } ?? "\(none)"
    }

    /// Names and values.
    static func facts(_ facts: [(String, Markup?)]) -> Markup {
        let rows = facts.compactMap { name, value in value.map { "<div><dt>\(name)</dt><dd>\($0)</dd></div>\n" as Markup } }
        return "<dl class=\"facts\">\n\(rows)</dl>"
    }

    static func paging(_ path: String, _ parameters: [(String, String?)], page: Int, hasMore: Bool) -> Markup {
        func link(_ page: Int) -> String {
            let pairs = (parameters + [("page", String(page))]).compactMap { name, value in
                value.map { "\(name)=\(FormText.encoded($0))" }
            }
            return "\(path)?\(pairs.joined(separator: "&"))"
        }
        guard page > 1 || hasMore else { return .empty }
        let back: Markup = page > 1 ? "<a href=\"\(link(page - 1))\" rel=\"prev\">← Newer</a>" : "<span></span>"
        let on: Markup = hasMore ? "<a href=\"\(link(page + 1))\" rel=\"next\">Older →</a>" : "<span></span>"
        return "<nav class=\"paging\" aria-label=\"Pages\">\(back)<span>Page \(page)</span>\(on)</nav>"
    }
}
