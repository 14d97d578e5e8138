/// Where this device stands with its server.
public enum RegistrationState: Sendable, Hashable {
    /// No credentials are stored, and none were taken away.
    case neverRegistered
    /// Credentials are stored, and the server has not confirmed them, or its confirmation has run out: authenticate.
    case registered
    /// The server has confirmed the credentials, and the time that it granted has not run out: tests may run.
    case confirmed
    /// The server has refused this device, and the credentials are gone.
    case dropped(DropReason)

    /// A word for programs, such as `status --json`.
    public var word: String {
        switch self {
        case .neverRegistered: "never_registered"
        case .registered: "registered"
        case .confirmed: "confirmed"
        case .dropped: "dropped"
        }
    }
}

/// Why the server refused this device for good.
public enum DropReason: Sendable, Hashable {
    /// The server did not issue the credentials, or has removed the client. Registering again is offered.
    case unknownCredentials
    /// The key's time per device is over, and the slot was returned. Registering again with the same key is offered.
    case usageWindowElapsed
    /// An administrator disabled the client. Registering again would take a second slot, and is refused unless it is forced.
    case clientDisabled(why: String?)

    /// The server's code for it.
    public var code: String {
        switch self {
        case .unknownCredentials: "unknown_credentials"
        case .usageWindowElapsed: "usage_window_elapsed"
        case .clientDisabled: "client_disabled"
        }
    }

    /// Whether ``Registry/registerClient(registrationKey:label:tags:force:)`` works without force.
    public var allowsRegisteringAgain: Bool {
        if case .clientDisabled = self { false } else { true }
    }

    init?(code: String, detail: String?) {
        switch code {
        case "unknown_credentials": self = .unknownCredentials
        case "usage_window_elapsed": self = .usageWindowElapsed
        case "client_disabled": self = .clientDisabled(why: detail)
        default: return nil
        }
    }

    /// What happened and what to do, for people.
    public var message: String {
        switch self {
        case .unknownCredentials:
            "the server does not know this device any more, so that its credentials and its unsent reports are gone: "
                + "register it again with a registration key"
        case .usageWindowElapsed:
            "the time for which the registration key lets a device measure is over, and its slot was returned: "
                + "register it again with a registration key"
        case .clientDisabled(let why):
            "an administrator disabled this device" + (why.map { " ('\($0)')" } ?? "")
                + ": do not register it again unless that is meant, for it would take a second slot of the key"
        }
    }
}

/// The registration was lost: whatever waits to be sent under it belongs to nobody any more.
public struct RegistrationLoss: Sendable, Hashable {
    /// How it was lost.
    public enum Cause: Sendable, Hashable {
        /// The server refused the device.
        case dropped(DropReason)
        /// The credentials were cleared here: ``Registry/clearRegistrationInfo()``.
        case cleared
        /// The client was removed on the server: ``Registry/unregisterClient()``.
        case unregistered
        /// There was no registration when the handler was installed.
        case none
    }

    public let cause: Cause
    /// The client whose registration it was; nil where it is not known any more.
    public let clientUUID: String?

    public init(cause: Cause, clientUUID: String?) {
        self.cause = cause
        self.clientUUID = clientUUID
    }
}
