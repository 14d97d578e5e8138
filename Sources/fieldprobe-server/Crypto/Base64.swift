/// Base64 by RFC 4648: the URL alphabet without padding for tokens, the ordinary one for PEM.
enum Base64 {
    private static let ordinary = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func urlText(_ octets: [UInt8]) -> String { String(decoding: encode(octets, url), as: UTF8.self) }

    static func text(_ octets: [UInt8]) -> String {
        let plain = encode(octets, ordinary)
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return String(decoding: plain + padding, as: UTF8.self)
    }

    /// Nil for anything that ``urlText(_:)`` would not have written: a token has one spelling.
    static func octets(url text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8), url) }

    static func octets(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 4 == 0 else { return nil }
        var rest = Array(text.utf8)
        while rest.last == UInt8(ascii: "=") { rest.removeLast() }
        return decode(rest, ordinary)
    }

    private static func encode(_ octets: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(octets.count * 4 / 3 + 4)
        var bits: UInt32 = 0
        var count = 0
        for octet in octets {
            bits = bits << 8 | UInt32(octet)
            count += 8
            while count >= 6 {
                count -= 6
                result.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { result.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return result
    }

    private static func decode(_ text: [UInt8], _ alphabet: [UInt8]) -> [UInt8]? {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            let value = values[Int(character)]
            guard value != 0xFF else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // A single character left over, or bits set behind the last octet: not the canonical form.
        guard text.count % 4 != 1, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return result
    }
}
