internal import COpenSSL

/// What is used of libcrypto, each call with its lengths checked. Nothing here can say why it failed but for want of memory or of random
/// octets, so that failing is nil.
enum Crypto {
    static func sha256(_ octets: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(octets, octets.count, &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
        return digest
    }

    /// HMAC-SHA-256 (RFC 2104).
    static func authenticationCode(_ octets: [UInt8], key: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        // A key without octets is legal, but not as NULL: that would mean "the key of the last call".
        let padded = key.isEmpty ? [0] : key
        guard HMAC(EVP_sha256(), padded, Int32(key.count), octets, octets.count, &code, &count) != nil, count == 32 else { return nil }
        return code
    }

    /// Whether the signature over the message is the key's (Ed25519, RFC 8032).
    static func isSigned(_ message: [UInt8], signature: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == 64, publicKey.count == 32,
            let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
        else { return false }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    static func random(_ count: Int) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&octets, Int32(count)) == 1 else { return nil }
        return octets
    }

    /// Compared in a time that does not depend on where they differ.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
