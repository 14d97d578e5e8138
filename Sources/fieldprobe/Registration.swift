internal import DeviceRegistration
internal import HTTPTransport
internal import MeasurementModel
internal import MeasurementSync
internal import QualityTests

/// This device's registration, as the configuration describes it.
enum Registration {
    /// - Parameter needsServer: the command talks to the server, which has to be configured then.
    static func registry(_ configuration: Configuration, needsServer: Bool = false) throws -> Registry {
        if needsServer, configuration.apiEndpoint == nil {
            throw CommandFailure(
                .configuration, "no server is configured: set fieldprobe.api-endpoint, such as https://server/client_api/v1")
        }
        var settings = Registry.Settings(stateDirectory: configuration.stateDirectory)
        settings.caFile = configuration.text("fieldprobe", "ca-file")
        settings.proxy = configuration.text("fieldprobe", "proxy").map(HTTPRequest.Proxy.url) ?? .environment
        settings.allowsPlainHTTP = configuration.yesNo("fieldprobe", "allow-plain-http")
        settings.logger = TestOptions.logger
        settings.userAgent = "fieldprobe/\(ProductVersion.current)"
        let registry = Registry(apiEndpoint: configuration.apiEndpoint ?? "", settings: settings)
        // The one place that tells of a lost registration: what was measured under it goes with it.
        UploaderFactory.queue(configuration).clearWhenLost(registry)
        return registry
    }
}

/// Which gate a test of this program has to pass.
enum TestGateChoice {
    /// The registration's, unless the test is to stay on this device. A confirmation that has run out is renewed first, while no test runs.
    static func gate(_ arguments: ParsedArguments, _ configuration: Configuration) async throws -> any TestGate {
        if arguments.isSet("unregistered") { return OpenGate() }
        let registry = try Registration.registry(configuration)
        if try registry.state == .registered, configuration.apiEndpoint != nil {
            do {
                try await registry.authenticate()
            } catch let error as RegistryError where error.code == .unreachable || error.code == .rateLimited || error.code == .serverFailed
            {
                // The gate says what is missing; this is why it still is.
                Output.complain(error.description)
            }
        }
        guard try registry.state != .neverRegistered else {
            throw CommandFailure(
                .notRegistered,
                "this device is not registered: 'fieldprobe register' does it, and '--unregistered' runs a test whose report stays here")
        }
        return RegistrationGate(registry)
    }
}

extension ExitStatus {
    init(_ refusal: TestRefusal) {
        switch refusal.code {
        case .notRegistered: self = .notRegistered
        case .confirmationExpired: self = .notConfirmed
        default: self = .refused
        }
    }

    init(_ error: RegistryError) {
        if let reason = error.dropReason {
            self = ExitStatus(reason)
            return
        }
        switch error.code {
        case .notRegistered: self = .notRegistered
        case .confirmationExpired, .untrustedGrant, .tokenRefused: self = .notConfirmed
        case .keyUnknown, .keyNotYetValid, .keyExpired, .keyExhausted, .keyRevoked, .labelTaken, .invalidRequest, .alreadyRegistered:
            self = .registrationRefused
        case .unreachable, .redirected, .answerTooLarge, .unexpectedAnswer, .serverFailed, .rateLimited, .busy: self = .unreachable
        case .unreadableState, .unwritableState: self = .unusableState
        case .machineChanged, .otherServer: self = .machineChanged
        case .invalidEndpoint, .insecureEndpoint: self = .configuration
        default: self = .failure
        }
    }

    init(_ reason: DropReason) {
        switch reason {
        case .unknownCredentials: self = .unknownCredentials
        case .usageWindowElapsed: self = .usageWindowElapsed
        case .clientDisabled: self = .clientDisabled
        }
    }
}
