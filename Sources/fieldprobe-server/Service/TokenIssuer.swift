internal import MeasurementModel

/// Short-lived JWTs (RFC 7519) by HMAC-SHA-256. Only this server reads them.
struct TokenIssuer: Sendable {
    let key: [UInt8]
    /// Seconds.
    let lifetime: Int

    struct Claims: Sendable, Hashable {
        let clientUUID: String
        /// Which machine authenticated: a copy of the disk loses its token once the other one has adopted the identity.
        let machine: String
    }

    private static let issuer = "fieldprobe-server"
    /// The one header that is ever accepted, octet for octet: no algorithm is read from a token, so none can be chosen by it.
    private static let header = Base64.urlText(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    func issue(_ claims: Claims, now: Timestamp) -> String {
        let seconds = now.milliseconds / 1000
        let payload: JSONObject = [
            "iss": .string(Self.issuer), "sub": .string(claims.clientUUID), "machine": .string(Self.mark(claims.machine)),
            "iat": .integer(seconds), "exp": .integer(seconds + Int64(lifetime)),
        ]
        let signed = Self.header + "." + Base64.urlText(JSONValue.object(payload).utf8())
        return signed + "." + Base64.urlText(Hash.hmac(key: key, Array(signed.utf8)))
    }

    /// - Throws: ``Problem``: `token_invalid`, or `token_expired` for a token that was good.
    func verify(_ token: String?, now: Timestamp) throws -> (clientUUID: String, machineMark: String) {
        guard let token, token.utf8.count <= 2048 else { throw Problem(.tokenInvalid) }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.header[...], let signature = Base64.octets(url: parts[2]),
            Hash.areEqual(Hash.hmac(key: key, Array("\(parts[0]).\(parts[1])".utf8)), signature)
        else { throw Problem(.tokenInvalid) }
        // From here on the text is this server's own.
        guard let payload = Base64.octets(url: parts[1]), let claims = try? JSONValue(parsing: payload, maximumDepth: 2),
            claims["iss"]?.string == Self.issuer, let client = claims["sub"]?.string, let machine = claims["machine"]?.string,
            let expiry = claims["exp"]?.int64, let issued = claims["iat"]?.int64
        else { throw Problem(.tokenInvalid) }
        let seconds = now.milliseconds / 1000
        guard seconds < expiry else { throw Problem(.tokenExpired) }
        // The clock was set back since: what was short-lived must not live long.
        guard issued <= seconds + Int64(lifetime) else { throw Problem(.tokenExpired) }
        return (client, machine)
    }

    static func mark(_ machine: String) -> String { String(Hash.hex(Hash.sha256(machine)).prefix(16)) }
}
