/// The text of a registration key: `fp-` and a public part of 8 characters by which it is found and listed, and 26 secret ones.
enum KeyText {
    static func make() -> (id: String, text: String) {
        let id = RandomOctets.text(8)
        return (id, "fp-\(id)-\(RandomOctets.text(26))")
    }

    /// The public part; nil for what cannot be a key.
    static func id(of text: String) -> String? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "fp", parts[1].utf8.count == 8, parts[2].utf8.count == 26 else { return nil }
        return String(parts[1])
    }
}
