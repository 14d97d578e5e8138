internal import CollectorCore
internal import HTTPTransport
internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// This device's registration at one server.
///
///     let registry = Registry(apiEndpoint: "https://server.example/client_api/v1")
///     if try registry.state == .neverRegistered {
///         try await registry.registerClient(registrationKey: key, label: "van 7", tags: ["fleet"])
///     }
///
/// Credentials and everything else that has to outlive the program are in the state folder, which several processes may use at once. Every
/// question is answered from there, so that what one process learns from the server, the others know.
public final class Registry: Sendable {
    /// Base address of the server's client API, without a trailing slash.
    public var apiEndpoint: String { endpoint.text }

    let endpoint: APIEndpoint
    let settings: Settings
    let store: RegistrationStore
    let client: HTTPClient
    let memory = Mutex(Memory())

    struct Memory {
        var token: (client: String, token: AccessToken)?
        /// Refused by the server where that could not be stored: it counts for this process all the same.
        var refused: StoredDrop?
        var lastState: RegistrationState?
        var lastClient: String?
        var streams: [Int: AsyncStream<RegistrationState>.Continuation] = [:]
        var lossHandlers: [@Sendable (RegistrationLoss) -> Void] = []
        var nextStream = 0
    }

    /// Nothing is read, sent or checked yet.
    ///
    /// - Parameters:
    ///   - apiEndpoint: base address of the client API, with or without a trailing slash. Empty answers from what is stored, whichever server
    ///     it is of, and sends nothing.
    ///   - settings: where the state is kept, and how the server is reached.
    public init(apiEndpoint: String, settings: Settings = Settings()) {
        endpoint = APIEndpoint(apiEndpoint)
        self.settings = settings
        store = RegistrationStore(folder: settings.stateFolder, files: settings.files, logger: settings.logger.named("Registry"))
        var transport = HTTPClient.Settings()
        transport.caFile = settings.caFile
        transport.userAgent = settings.userAgent
        // An upload that a test breaks off must not go on from a buffer while the test runs.
        transport.endsAbruptly = true
        client = HTTPClient(settings: transport)
    }

    deinit {
        for stream in memory.withLock({ $0.streams.values }) { stream.finish() }
    }

    /// Ends the connection to the server and its thread. Later requests fail.
    public func close() async { await client.close() }

    /// Where this device stands now. Tests may run when it is ``RegistrationState/confirmed``.
    ///
    /// - Throws: ``RegistryError`` when the state files cannot be read: that is not the same as never registered.
    public var state: RegistrationState {
        get throws(RegistryError) { try standing().state }
    }

    /// Whether credentials are stored on this device. It is also true when they cannot be read at the moment: a device must not register
    /// again because of that.
    public func isClientRegistered() -> Bool {
        do { return try standing().stored?.client != nil } catch { return true }
    }

    /// Whether the server has confirmed the credentials, and the time that it granted has not run out: whether tests may run.
    public func isRegistrationValid() -> Bool { (try? standing().state) == .confirmed }

    /// The client's id; nil without credentials.
    public func getClientUuid() -> String? { (try? standing())?.stored?.client?.uuid }

    /// What the registration key lets this device run; nil when it restricts nothing, and when there is no valid confirmation, so that it is
    /// not known.
    public func getCapability() -> Capability? { (try? standing())?.grant?.capability }

    /// What is stored, and what it is worth now. Changes that other processes have made are told from here, too.
    func standing() throws(RegistryError) -> Standing {
        var stored = try store.load()
        if let refused = memory.withLock({ $0.refused }), stored?.client?.uuid == refused.clientUUID {
            stored = StoredRegistration(drop: refused)
        }
        let standing = evaluated(stored)
        // Whoever asks, and whatever the answer: what is used of the grant stays used. Only a test needs it to succeed.
        if standing.advanced != nil, memory.withLock({ $0.refused }) == nil { try? storeUse(attempts: 10) }
        tell(standing)
        return standing
    }

    func evaluated(_ stored: StoredRegistration?) -> Standing {
        Standing(
            stored, endpoint: endpoint.text.isEmpty ? nil : endpoint.text, identity: settings.machine, at: settings.clock.now())
    }

    /// The credentials for a request to the server.
    func credentials(adopt: Bool = false) throws(RegistryError) -> StoredClient {
        try endpoint.check(allowsPlainHTTP: settings.allowsPlainHTTP)
        let standing = try standing()
        guard let client = standing.stored?.client else { throw standing.obstacle ?? .notRegistered }
        guard client.endpoint == endpoint.text || adopt else { throw .otherServer(client.endpoint) }
        return client
    }

    var connection: ServerConnection {
        ServerConnection(
            client: client, endpoint: endpoint, timeouts: settings.timeouts, proxy: settings.proxy,
            clock: { [clock = settings.clock] in clock.now() })
    }
}
