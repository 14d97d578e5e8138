internal import MeasurementModel

/// The state file's outer form: the content, and a code over it.
///
/// The code is keyed by the client's secret. The secret stands in the same file, so that the code stops damage and editing by hand, and not
/// somebody who writes a program for it; what such a one can gain is bounded by what the server has signed (docs/decisions/0005-grant-time.md).
enum StateSeal {
    static func seal(_ state: StoredRegistration) -> [UInt8]? {
        let content = state.json
        guard let code = code(content, state) else { return nil }
        let document = JSONValue.object([
            "schema": .string(StoredRegistration.schema), "content": content, "code": .string(Hex.text(code)),
        ])
        return document.utf8(pretty: true) + [0x0A]
    }

    /// - Returns: nil for what was not sealed, or was changed since.
    static func open(_ octets: [UInt8]) -> StoredRegistration? {
        guard let document = try? JSONValue(parsing: octets, maximumDepth: 8), document["schema"] == .string(StoredRegistration.schema),
            let content = document["content"], let state = StoredRegistration(json: content),
            let found = document["code"]?.string.flatMap(Hex.octets), let code = code(content, state), Crypto.areEqual(found, code)
        else { return nil }
        return state
    }

    private static func code(_ content: JSONValue, _ state: StoredRegistration) -> [UInt8]? {
        let label = Array("fieldprobe/registration-seal/1\n".utf8)
        let secret = state.client.map { Array($0.secret.utf8) } ?? []
        guard let key = Crypto.authenticationCode(label, key: secret) else { return nil }
        return Crypto.authenticationCode(content.utf8(pretty: false), key: key)
    }
}
