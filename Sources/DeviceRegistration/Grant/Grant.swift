internal import MeasurementModel

/// What the server grants and signs at an authentication: how long this device may run tests, and which.
struct Grant: Sendable, Hashable {
    let clientUUID: String
    /// Echo of the request's.
    let nonce: String
    /// The machine's hash that the request named.
    let machine: String
    /// How long tests may run, from the request on.
    let granted: Duration
    let capability: Capability?
    let label: String?
    let tags: [String]

    /// No server may grant more at a time.
    static let longest = Duration.seconds(7 * 24 * 3600)

    enum Fault: String, Error {
        case malformed = "it is no signed grant"
        case algorithm = "it is not signed with EdDSA"
        case signature = "its signature is not that of the server's key"
        case version = "its version is not 1"
        case client = "it is for another client"
        case nonce = "it answers another request"
        case machine = "it is for another machine"
        case time = "it grants no time"
        case capability = "its capability cannot be read"
    }

    /// Reads and checks a compact JWS (RFC 7515). The one algorithm is EdDSA: the header cannot choose another, nor none.
    ///
    /// - Parameter serverKey: raw Ed25519 public key, as pinned at registration.
    init(verifying text: String, serverKey: [UInt8]) throws(Fault) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64URL.octets(parts[0]), let payload = Base64URL.octets(parts[1]),
            let signature = Base64URL.octets(parts[2]), let head = try? JSONValue(parsing: header, maximumDepth: 4)
        else { throw .malformed }
        // `crit` names extensions that must be understood, and none is.
        guard head["alg"] == .string("EdDSA"), head["crit"] == nil else { throw .algorithm }
        guard Crypto.isSigned(Array("\(parts[0]).\(parts[1])".utf8), signature: signature, publicKey: serverKey) else {
            throw .signature
        }
        guard let claims = try? JSONValue(parsing: payload, maximumDepth: 8) else { throw .malformed }
        guard claims["v"]?.int64 == 1 else { throw .version }
        guard let clientUUID = claims["client_uuid"]?.string, let nonce = claims["nonce"]?.string,
            let machine = claims["machine"]?.string
        else { throw .malformed }
        guard let seconds = claims["granted_seconds"]?.int64, seconds > 0 else { throw .time }
        self.clientUUID = clientUUID
        self.nonce = nonce
        self.machine = machine
        granted = min(.seconds(min(seconds, 1 << 32)), Self.longest)
        if let value = claims["capability"], value != .null {
            guard let capability = Capability(json: value) else { throw .capability }
            self.capability = capability
        } else {
            capability = nil
        }
        label = claims["label"]?.string
        tags = claims["tags"]?.array?.compactMap(\.string) ?? []
    }
}
