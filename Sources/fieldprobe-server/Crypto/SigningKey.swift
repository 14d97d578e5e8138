internal import COpenSSL

/// The server's Ed25519 key pair: it signs grants, and devices pin its public half when they register.
final class SigningKey: Sendable {
    // A key is only read after it was made, which libcrypto allows from any thread.
    nonisolated(unsafe) private let handle: OpaquePointer
    /// 32 octets.
    let publicKey: [UInt8]

    /// - Parameter seed: the 32 octets of RFC 8032.
    init?(seed: [UInt8]) {
        guard seed.count == 32, let handle = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else { return nil }
        self.handle = handle
        var octets = [UInt8](repeating: 0, count: 32)
        var count = octets.count
        EVP_PKEY_get_raw_public_key(handle, &octets, &count)
        publicKey = octets
    }

    deinit { EVP_PKEY_free(handle) }

    func sign(_ octets: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, nil, nil, handle) == 1,
            EVP_DigestSign(context, &signature, &count, octets, octets.count) == 1
        else { fatalError("libcrypto cannot sign with Ed25519") }
        return signature
    }
}
