internal import COpenSSL

/// Random octets of libcrypto's generator.
enum RandomOctets {
    static func make(_ count: Int) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        // Without randomness there is no secret: to go on would be worse than to end.
        guard RAND_bytes(&octets, Int32(count)) == 1 else { fatalError("the system has no random numbers") }
        return octets
    }

    /// A random UUID (RFC 9562, version 4) in lower case.
    static func uuid() -> String {
        var octets = make(16)
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        let digits = Array(Hash.hex(octets))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")

    /// Text of letters and digits that are not mistaken for each other: five bits for each character.
    static func text(_ count: Int) -> String { String(make(count).map { alphabet[Int($0 & 31)] }) }
}
