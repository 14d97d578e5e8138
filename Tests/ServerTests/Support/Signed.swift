import COpenSSL
import LabSupport
import MeasurementModel

@testable import fieldprobe_server

/// A JWS whose signature has been checked by libcrypto, as a device does it.
struct Signed {
    let header: JSONValue
    let payload: JSONValue

    init(_ text: String, publicKey: [UInt8]) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64.octets(url: parts[2]), let header = Base64.octets(url: parts[0]),
            let payload = Base64.octets(url: parts[1])
        else { throw LabError("no compact JWS: \(text)") }
        let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
        }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1,
            EVP_DigestVerify(context, signature, signature.count, signed, signed.count) == 1
        else { throw LabError("the signature is not the server's") }
        self.header = try JSONValue(parsing: header)
        self.payload = try JSONValue(parsing: payload)
    }
}
