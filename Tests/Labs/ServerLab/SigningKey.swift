internal import COpenSSL
public import MeasurementModel

/// An Ed25519 key of a server double. It shares no code with what is tested.
public final class SigningKey: Sendable {
    /// Never changed once it is made.
    private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

    private let key: Handle
    public let publicKey: [UInt8]

    public init() {
        var pointer: OpaquePointer?
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_keygen(context, &pointer)
        EVP_PKEY_CTX_free(context)
        key = Handle(pointer: pointer!)
        var octets = [UInt8](repeating: 0, count: 32)
        var count = 32
        EVP_PKEY_get_raw_public_key(key.pointer, &octets, &count)
        publicKey = octets
    }

    deinit { EVP_PKEY_free(key.pointer) }

    public func signature(of message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = 64
        EVP_DigestSignInit(context, nil, nil, nil, key.pointer)
        EVP_DigestSign(context, &signature, &count, message, message.count)
        return signature
    }

    /// A compact JWS over the claims.
    public func jws(_ claims: JSONValue, header: JSONValue = .object(["alg": .string("EdDSA")])) -> String {
        let signed = Self.base64(header.utf8(pretty: false)) + "." + Self.base64(claims.utf8(pretty: false))
        return signed + "." + Self.base64(signature(of: Array(signed.utf8)))
    }

    /// base64url without padding, made of libcrypto's base64.
    public static func base64(_ octets: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (octets.count + 2) / 3 * 4 + 1)
        let count = Int(EVP_EncodeBlock(&text, octets, Int32(octets.count)))
        return String(decoding: text[..<count], as: UTF8.self).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : String($0) }
            .joined()
    }

    public static func random(_ count: Int) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        RAND_bytes(&octets, Int32(count))
        return octets
    }
}
