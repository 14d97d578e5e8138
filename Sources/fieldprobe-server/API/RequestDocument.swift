internal import MeasurementModel

/// The JSON object of a request's body, read member by member. Every fault says which member is wrong.
struct RequestDocument {
    private let object: JSONObject

    init(_ body: [UInt8]) throws {
        do {
            guard let object = try JSONValue(parsing: body, maximumDepth: 8).object else {
                throw Problem(.invalidRequest, "The body must be a JSON object.")
            }
            self.object = object
        } catch let error as JSONSyntaxError {
            throw Problem(.invalidRequest, "The body is \(error).")
        }
    }

    func text(_ name: String, upTo limit: Int) throws -> String {
        guard let text = try optionalText(name, upTo: limit) else { throw Problem(.invalidRequest, "'\(name)' is missing.") }
        return text
    }

    /// An empty text is none: it cannot be told from one that was left out.
    func optionalText(_ name: String, upTo limit: Int) throws -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string, !text.isEmpty else { throw Problem(.invalidRequest, "'\(name)' must be a text, and not empty.") }
        guard text.unicodeScalars.count <= limit else { throw Problem(.invalidRequest, "'\(name)' is longer than \(limit) characters.") }
        guard Self.isPrintable(text) else { throw Problem(.invalidRequest, "'\(name)' contains control characters.") }
        return text
    }

    func hex(_ name: String, digits: Int) throws -> String {
        let text = try text(name, upTo: digits)
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
            throw Problem(.invalidRequest, "'\(name)' must be \(digits) hexadecimal digits in lower case.")
        }
        return text
    }

    func texts(_ name: String, count: Int, upTo limit: Int) throws -> [String] {
        guard let value = object[name] else { return [] }
        guard let values = value.array, values.count <= count else {
            throw Problem(.invalidRequest, "'\(name)' must be a list of at most \(count) texts.")
        }
        let texts = values.compactMap(\.string)
        guard texts.count == values.count,
            texts.allSatisfy({ !$0.isEmpty && $0.unicodeScalars.count <= limit && Self.isPrintable($0) })
        else { throw Problem(.invalidRequest, "'\(name)' must contain texts of 1 to \(limit) characters without control characters.") }
        return texts
    }

    func flag(_ name: String) throws -> Bool {
        guard let value = object[name] else { return false }
        guard let flag = value.bool else { throw Problem(.invalidRequest, "'\(name)' must be true or false.") }
        return flag
    }

    /// Neither control characters nor those that turn the direction of text around: labels are shown to people.
    static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            case .format: scalar.value == 0x200D
            default: true
            }
        }
    }
}
