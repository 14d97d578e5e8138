/// What became of a report, and so what to do with it.
public enum UploadOutcome: Sendable {
    /// The server has it: it can leave this device.
    case stored
    /// The server had it already, from this client: the same.
    case alreadyStored
    /// The server will never take this report: it is moved aside.
    case refusedForGood(ServerProblem)
    /// Nothing is known to be wrong with the report: it is sent again, at the earliest after so long where the server told.
    case retry(RegistryError, after: Duration?)
    /// The server was reached, and this device got no token that it accepts: the report is sent again once that is repaired. The error
    /// says what to do.
    case tokenRenewalFailed(RegistryError)
    /// The registration is gone, and everybody was told: nothing of the queue can be sent any more.
    case dropped(DropReason)
    /// There is no registration to send it under.
    case notRegistered(RegistryError)

    /// Whether the same report may be sent again.
    public var isFinal: Bool {
        switch self {
        case .retry, .tokenRenewalFailed: false
        case .stored, .alreadyStored, .refusedForGood, .dropped, .notRegistered: true
        }
    }

    init(_ error: RegistryError) {
        if let reason = error.dropReason {
            self = .dropped(reason)
            return
        }
        switch error.code {
        case .notRegistered: self = .notRegistered(error)
        case .machineChanged, .untrustedGrant, .otherServer, .tokenRefused, .invalidEndpoint, .insecureEndpoint, .unsuitableMachine:
            self = .tokenRenewalFailed(error)
        default:
            if case .later(let after) = error.retry { self = .retry(error, after: after) } else { self = .retry(error, after: nil) }
        }
    }
}
