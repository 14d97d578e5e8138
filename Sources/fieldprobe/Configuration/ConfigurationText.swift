/// One `key = value` line, and where it stands.
struct ConfigurationEntry: Sendable, Hashable {
    var section: String
    /// Empty for the header of a section itself, which has to be known also where nothing stands below it.
    var key: String
    var value: String
    /// `/etc/fieldprobe/fieldprobe.conf:12`, or `--set`.
    var place: String
}

/// Reads the configuration's text form: sections in brackets, `key = value`, comments from `;` or `#` at the start of a line or after a
/// space. A value in double quotes may hold anything, with `\"` and `\\`.
enum ConfigurationText {
    /// - Throws: ``CommandFailure`` with file and line.
    static func entries(_ text: String, file: String) throws -> [ConfigurationEntry] {
        var entries: [ConfigurationEntry] = []
        var section: String?
        var number = 0
        // Editors of other systems put a byte order mark in front.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0.isNewline }) {
            number += 1
            let place = "\(file):\(number)"
            let content = line.trimmed
            guard let first = content.first, first != ";", first != "#" else { continue }
            if first == "[" {
                let header = withoutComment(content)
                guard header.last == "]", header.count > 2 else { throw fault(place, "a section is written as [name]") }
                let name = String(header.dropFirst().dropLast()).trimmed
                section = name
                entries.append(ConfigurationEntry(section: name, key: "", value: "", place: place))
                continue
            }
            guard let equals = content.firstIndex(of: "=") else { throw fault(place, "a line is 'key = value' or '[section]'") }
            guard let section else { throw fault(place, "a key stands below a section, such as [fieldprobe]") }
            let key = content[..<equals].trimmed
            guard !key.isEmpty else { throw fault(place, "the key before '=' is missing") }
            let value = try value(String(content[content.index(after: equals)...]).trimmed, place)
            if let earlier = entries.first(where: { $0.section == section && $0.key == key }) {
                throw fault(place, "'\(key)' in [\(section)] is set already, at \(earlier.place): remove one of them")
            }
            entries.append(ConfigurationEntry(section: section, key: key, value: value, place: place))
        }
        return entries
    }

    private static func value(_ text: String, _ place: String) throws -> String {
        guard text.first == "\"" else { return withoutComment(text) }
        var result = ""
        var isEscaped = false
        var rest = text.dropFirst()
        while let character = rest.popFirst() {
            if isEscaped {
                result.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                let after = String(rest).trimmed
                guard after.isEmpty || after.hasPrefix(";") || after.hasPrefix("#") else {
                    throw fault(place, "something follows the closing quote")
                }
                return result
            } else {
                result.append(character)
            }
        }
        throw fault(place, "the closing quote is missing")
    }

    private static func withoutComment(_ text: String) -> String {
        var previous: Character = " "
        for index in text.indices {
            if text[index] == ";" || text[index] == "#", previous == " " || previous == "\t" { return String(text[..<index]).trimmed }
            previous = text[index]
        }
        return text
    }

    /// Reads `section.key=value` of the command line. The key is what follows the last dot.
    static func assignment(_ text: String) throws -> ConfigurationEntry {
        guard let equals = text.firstIndex(of: "="), let dot = text[..<equals].lastIndex(of: ".") else {
            throw fault("--set", "'\(text)' is no SECTION.KEY=VALUE, such as permissions.wifi-identity=yes")
        }
        guard text.index(after: dot) < equals else { throw fault("--set", "'\(text)' lacks the key between the dot and '='") }
        return ConfigurationEntry(
            section: String(text[..<dot]), key: String(text[text.index(after: dot)..<equals]),
            value: String(text[text.index(after: equals)...]).trimmed, place: "--set")
    }

    static func fault(_ place: String, _ text: String) -> CommandFailure { CommandFailure(.configuration, "\(place): \(text)") }
}

extension StringProtocol {
    var trimmed: String {
        var rest = self[...]
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
