public import HTTPTransport

/// Something about the registration that did not work, and what to do about it.
public struct RegistryError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for programs to compare. There may be more codes in a later version.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let word: String
        private init(_ word: String) { self.word = word }
        /// A word for programs.
        public var description: String { word }

        // The server's refusals of a registration.
        public static let keyUnknown = Code("key_unknown")
        public static let keyNotYetValid = Code("key_not_yet_valid")
        public static let keyExpired = Code("key_expired")
        public static let keyExhausted = Code("key_exhausted")
        public static let keyRevoked = Code("key_revoked")
        public static let labelTaken = Code("label_taken")
        public static let invalidRequest = Code("invalid_request")
        public static let rateLimited = Code("rate_limited")

        // The server's refusals of this device.
        /// ``RegistryError/dropReason`` says which; the credentials are gone.
        public static let dropped = Code("dropped")
        /// The credentials are in use on another machine, or this machine was changed.
        public static let machineChanged = Code("machine_changed")
        public static let tokenRefused = Code("token_refused")

        // This device's state.
        public static let notRegistered = Code("not_registered")
        public static let alreadyRegistered = Code("already_registered")
        /// The client was disabled: registering again has to be forced.
        public static let registeringAgainRefused = Code("registering_again_refused")
        /// The device is registered at another address.
        public static let otherServer = Code("other_server")
        public static let confirmationExpired = Code("confirmation_expired")
        /// The state files cannot be read or were changed: they have to be repaired.
        public static let unreadableState = Code("unreadable_state")
        public static let unwritableState = Code("unwritable_state")
        /// Another process is registering this device.
        public static let busy = Code("busy")
        /// This machine lacks something that a registration needs.
        public static let unsuitableMachine = Code("unsuitable_machine")

        // The way to the server and back.
        public static let invalidEndpoint = Code("invalid_endpoint")
        /// Plain HTTP to another machine would show the secret to the network.
        public static let insecureEndpoint = Code("insecure_endpoint")
        /// No complete answer came; ``RegistryError/transport`` says why.
        public static let unreachable = Code("unreachable")
        public static let redirected = Code("redirected")
        public static let answerTooLarge = Code("answer_too_large")
        /// The answer is none of the client API's: a proxy, a captive portal or another program has answered.
        public static let unexpectedAnswer = Code("unexpected_answer")
        public static let serverFailed = Code("server_failed")
        /// The answer is not signed by the server that this device was registered at.
        public static let untrustedGrant = Code("untrusted_grant")
    }

    /// Whether the same call may do better later.
    public enum Retry: Sendable, Hashable {
        case never
        /// At the earliest after so long, where the server told.
        case later(after: Duration?)
    }

    public let code: Code
    /// What happened, and what to do.
    public let message: String
    public let retry: Retry
    /// With ``Code/dropped`` and ``Code/registeringAgainRefused``: why the server refused the device.
    public let dropReason: DropReason?
    /// What the transport said, where no answer came.
    public let transport: HTTPError?
    /// More for people who look for the fault.
    public let cause: String?

    init(
        _ code: Code, _ message: String, retry: Retry = .never, dropReason: DropReason? = nil, transport: HTTPError? = nil,
        cause: String? = nil
    ) {
        self.code = code
        self.message = message
        self.retry = retry
        self.dropReason = dropReason
        self.transport = transport
        self.cause = cause
    }

    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

extension RegistryError {
    static let notRegistered = RegistryError(.notRegistered, "this device is not registered: register it with a registration key first")

    static func dropped(_ reason: DropReason) -> RegistryError { RegistryError(.dropped, reason.message, dropReason: reason) }

    static func otherServer(_ registeredAt: String) -> RegistryError {
        RegistryError(
            .otherServer,
            "this device is registered at \(registeredAt), and its secret goes nowhere else: configure that address, "
                + "or authenticate with 'adopt' if the server has moved to this one")
    }

    static let machineChanged = RegistryError(
        .machineChanged,
        "these credentials belong to another machine, as after copying a disk: register this machine with a key of its own "
            + "(clear the registration first), or authenticate with 'adopt' if it replaces the other one")

    static let confirmationExpired = RegistryError(
        .confirmationExpired, "the server's confirmation of this device has run out: connect it to the server and authenticate")

    static func unsuitable(_ message: String, _ cause: String? = nil) -> RegistryError {
        RegistryError(.unsuitableMachine, message, cause: cause)
    }
}
