/// Octets as lower-case hexadecimal digits.
enum Hex {
    static func text(_ octets: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for octet in octets {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: nil for anything but pairs of lower-case digits, so that one value has one text.
    static func octets(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// Octets in the alphabet of RFC 4648, section 5, without padding, as JOSE writes them (RFC 7515, section 2).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func text(_ octets: [UInt8]) -> String {
        var text: [UInt8] = []
        var index = 0
        while index < octets.count {
            let group = octets[index..<min(index + 3, octets.count)]
            var bits: UInt32 = 0
            for octet in group { bits = bits << 8 | UInt32(octet) }
            bits <<= UInt32(8 * (3 - group.count))
            for digit in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * digit) & 63)]) }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: nil for padding, another alphabet, a length that cannot be, and stray bits at the end: one value has one text.
    static func octets(_ text: String) -> [UInt8]? {
        var octets: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for digit in text.utf8 {
            guard let value = value(digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            bits &= (1 << UInt32(count)) - 1
        }
        return count < 6 && bits == 0 ? octets : nil
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
