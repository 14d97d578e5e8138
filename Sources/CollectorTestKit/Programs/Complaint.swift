/// What a program wrote to standard error, made short and safe for a terminal.
enum Complaint {
    /// Its beginning.
    static func shown(_ octets: [UInt8]) -> String { safe(lines(octets), limit: 400) }

    /// Its last two lines: where an interpreter says what happened.
    static func last(_ octets: [UInt8]) -> String {
        safe(lines(octets).filter { $0.contains(where: \.isLetter) }.suffix(2), limit: 400)
    }

    private static func lines(_ octets: [UInt8]) -> [Substring] {
        String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline)
    }

    private static func safe(_ lines: some Sequence<Substring>, limit: Int) -> String {
        let text = lines.map { line in
            line.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : String(Character($0)) }.joined()
        }
        return String(text.joined(separator: " | ").prefix(limit))
    }
}
