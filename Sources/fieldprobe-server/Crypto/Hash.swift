internal import COpenSSL

/// Digests and comparisons.
enum Hash {
    static func sha256(_ octets: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(octets, octets.count, &digest, nil, EVP_sha256(), nil)
        return digest
    }

    static func sha256(_ text: String) -> [UInt8] { sha256(Array(text.utf8)) }

    static func hmac(key: [UInt8], _ octets: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), key, Int32(key.count), octets, octets.count, &code, nil)
        return code
    }

    /// Takes the same time wherever two values of one length differ.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    static func areEqual(_ left: String, _ right: String) -> Bool { areEqual(Array(left.utf8), Array(right.utf8)) }

    static func hex(_ octets: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: octets.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
