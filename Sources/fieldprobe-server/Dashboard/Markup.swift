/// HTML that is safe by its type: what stands in a literal is markup, and every text that is put into one is escaped on the way.
struct Markup: Sendable, ExpressibleByStringInterpolation {
    let text: String

    static let empty: Markup = ""

    init(stringLiteral value: StaticString) { text = value.description }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + interpolationCount * 16) }

        mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
        mutating func appendInterpolation(_ text: String) { self.text += Markup.escaped(PlainText.escaped(text)) }
        mutating func appendInterpolation(_ number: Int) { text += String(number) }
        mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
        mutating func appendInterpolation(_ markups: [Markup]) { for markup in markups { text += markup.text } }
        /// Text of several lines, as it is: for `<pre>`.
        mutating func appendInterpolation(lines: String) {
            for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
                text += Markup.escaped(PlainText.escaped(String(line))) + "\n"
            }
        }
    }

    /// For the content of an element and for an attribute's value in double quotes.
    private static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Optional {
    /// The markup for a value that is there.
    func html(_ make: (Wrapped) -> Markup) -> Markup { map(make) ?? .empty }
}
