internal import CLinux
internal import Glibc
internal import MeasurementModel

/// What the server must keep to itself: one Ed25519 seed in a file of its own, and keys for other uses that are derived from it.
struct ServerSecrets: Sendable {
    let signingKey: SigningKey
    /// Signs tokens.
    let tokenKey: [UInt8]
    /// Makes a device's secret from its registration, so that a repeated request gets the same answer and nothing readable is stored.
    let deviceKey: [UInt8]
    /// Makes the tokens that guard forms.
    let formKey: [UInt8]

    static let fileName = "server-key.pem"

    /// Reads the key of a data folder, or makes it. The folder has to be locked by the caller against a second maker.
    init(folder: String) throws {
        let path = "\(folder)/\(Self.fileName)"
        let seed: [UInt8]
        if let text = try DurableFile.read(path) {
            guard let found = Self.seed(pem: text) else {
                throw CommandFailure(
                    .data,
                    "\(path) is not an Ed25519 private key in PEM form: restore it from a backup; a new one would shut out all devices")
            }
            seed = found
        } else {
            seed = RandomOctets.make(32)
            try DurableFile.create(path, Self.pem(seed: seed))
        }
        guard let key = SigningKey(seed: seed) else { throw CommandFailure(.failure, "libcrypto offers no Ed25519") }
        signingKey = key
        func derived(_ use: String) -> [UInt8] { Hash.hmac(key: seed, Array("fieldprobe-server/\(use)/1".utf8)) }
        tokenKey = derived("token")
        deviceKey = derived("device-secret")
        formKey = derived("form")
    }

    /// PKCS #8 of RFC 8410: always the same sixteen octets before the seed.
    private static let prefix: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]
    private static let begin = "-----BEGIN PRIVATE KEY-----"
    private static let end = "-----END PRIVATE KEY-----"

    private static func pem(seed: [UInt8]) -> String { "\(begin)\n\(Base64.text(prefix + seed))\n\(end)\n" }

    private static func seed(pem: String) -> [UInt8]? {
        let lines = pem.split(whereSeparator: \.isNewline)
        guard lines.count >= 3, lines.first == begin[...], lines.last == end[...],
            let octets = Base64.octets(lines.dropFirst().dropLast().joined()), octets.count == prefix.count + 32,
            octets.starts(with: prefix)
        else { return nil }
        return Array(octets.suffix(32))
    }
}
