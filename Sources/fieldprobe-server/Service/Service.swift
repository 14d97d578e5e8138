internal import MeasurementModel
internal import ProbeLog

/// Everything that an endpoint needs.
struct Service: Sendable {
    let store: any ServerStore
    let secrets: ServerSecrets
    let limits: ServiceLimits
    let tokens: TokenIssuer
    let log: Logger
    /// The wall clock: what people and other machines are told. Tests set it.
    let now: @Sendable () -> Timestamp

    let registrationsByPeer: RateLimiter
    let registrationsByKey: RateLimiter
    let authenticationsByPeer: RateLimiter
    let authenticationsByClient: RateLimiter
    let uploadsByClient: RateLimiter
    let loginsByPeer: RateLimiter

    init(
        store: any ServerStore, secrets: ServerSecrets, limits: ServiceLimits, log: Logger,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.secrets = secrets
        self.limits = limits
        self.log = log
        self.now = now
        tokens = TokenIssuer(key: secrets.tokenKey, lifetime: limits.tokenSeconds)
        registrationsByPeer = RateLimiter(perMinute: limits.registrationsPerMinute)
        registrationsByKey = RateLimiter(perMinute: limits.registrationsPerMinute)
        authenticationsByPeer = RateLimiter(perMinute: limits.authenticationsPerMinute)
        authenticationsByClient = RateLimiter(perMinute: min(limits.authenticationsPerMinute, limits.authenticationsPerClient))
        uploadsByClient = RateLimiter(perMinute: limits.uploadsPerMinute)
        loginsByPeer = RateLimiter(perMinute: limits.loginsPerMinute)
    }

    /// - Throws: ``Problem`` when the bucket is empty.
    func pass(_ limiter: RateLimiter, _ name: String) throws {
        if let wait = limiter.take(name) { throw Problem(.rateLimited, retryAfter: wait) }
    }
}

/// Numbers that an administrator may change.
struct ServiceLimits: Sendable {
    /// For each address, and for each key.
    var registrationsPerMinute = 120
    /// For each address: a whole site may be behind one.
    var authenticationsPerMinute = 600
    var authenticationsPerClient = 20
    var uploadsPerMinute = 120
    var loginsPerMinute = 10
    var tokenSeconds = 900
    /// Octets of a report as it is sent, and unpacked.
    var packedDocument = 8 << 20
    var document = 16 << 20
}
