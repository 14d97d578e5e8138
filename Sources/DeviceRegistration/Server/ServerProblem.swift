internal import MeasurementModel

/// A refusal as the server words it: a problem document (RFC 9457) with a stable code.
public struct ServerProblem: Sendable, Hashable {
    public let status: Int
    /// Such as `key_exhausted`.
    public let code: String
    /// What the server advises; text from outside, at most 500 characters.
    public let detail: String?

    init?(status: Int, json: JSONValue) {
        guard let code = json["code"]?.string, !code.isEmpty, code.utf8.count <= 64 else { return nil }
        self.status = status
        self.code = code
        detail = json["detail"]?.string.map { String($0.prefix(500)) }
    }

    init(status: Int, code: String, detail: String?) {
        self.status = status
        self.code = code
        self.detail = detail
    }
}

extension ServerConnection.Answer {
    /// What an answer without success means where no case of its own is made of it.
    var refusal: RegistryError {
        let cause = problem.map { "\($0.code)" + ($0.detail.map { detail in ": \(detail)" } ?? "") } ?? "status \(status)"
        switch (status, problem?.code) {
        case (429, _):
            return RegistryError(
                .rateLimited, "the server asks for fewer requests: wait, and try again", retry: .later(after: retryAfter), cause: cause)
        case (500..., _):
            return RegistryError(
                .serverFailed, "the server has failed: try again later", retry: .later(after: retryAfter), cause: cause)
        case (_, "machine_changed"?):
            return .machineChanged
        case (_, "token_expired"?), (_, "token_invalid"?):
            return RegistryError(
                .tokenRefused, "the server refuses a token that it has just issued", retry: .later(after: nil), cause: cause)
        case (_, let code?):
            if let reason = DropReason(code: code, detail: problem?.detail) { return .dropped(reason) }
            if let (known, message) = Self.registrationRefusals[code] { return RegistryError(known, message, cause: cause) }
            return RegistryError(
                .unexpectedAnswer, "the server refuses the request for a reason that this version does not know: update fieldprobe",
                cause: cause)
        default: return ServerConnection.unexpected(status)
        }
    }

    private static let registrationRefusals: [String: (RegistryError.Code, String)] = [
        "key_unknown": (.keyUnknown, "the server does not know this registration key: check how it is written"),
        "key_not_yet_valid": (.keyNotYetValid, "this registration key is not valid yet: ask who gave it to you from when it is"),
        "key_expired": (.keyExpired, "this registration key accepts no new devices any more: ask for another one"),
        "key_exhausted": (
            .keyExhausted, "all of this registration key's devices are registered: free one by unregistering it, or ask for more"
        ),
        "key_revoked": (.keyRevoked, "this registration key was withdrawn: ask for another one"),
        "label_taken": (.labelTaken, "another client has this label: choose one that nobody has"),
        "invalid_request": (.invalidRequest, "the server cannot accept this registration as it is: check key, label and tags"),
    ]
}
