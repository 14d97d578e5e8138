internal import CollectorCore
internal import MeasurementModel

/// Where the device stands at one moment, worked out from what is stored, this machine, this boot and the boot-time clock. Nothing else
/// counts: the wall clock is not asked.
struct Standing: Sendable {
    var stored: StoredRegistration?
    var state: RegistrationState
    /// With a state that is not confirmed: why the stored grant does not count.
    var obstacle: RegistryError?
    var grant: Grant?
    /// Of the grant; nil where it does not count.
    var left: Duration?
    /// The stored state with the grant's use brought up to now, where that is more than what is stored: it must be stored before a test may
    /// rely on it, and also when it shows that the grant is used up.
    var advanced: StoredRegistration?

    /// - Parameter endpoint: where this device shall be registered; nil for wherever it is.
    init(_ stored: StoredRegistration?, endpoint: String?, identity: MachineIdentity, at instant: MonotonicInstant) {
        self.stored = stored
        guard let client = stored?.client else {
            state = stored?.drop.map { .dropped($0.reason) } ?? .neverRegistered
            obstacle = stored?.drop.map { .dropped($0.reason) } ?? .notRegistered
            return
        }
        state = .registered
        obstacle = .confirmationExpired
        do throws(RegistryError) {
            guard endpoint == nil || endpoint == client.endpoint else { throw .otherServer(client.endpoint) }
            guard try identity.hash(salt: client.salt) == client.machine else { throw .machineChanged }
            guard var stored = stored, var kept = stored.grant else { return }
            let grant: Grant
            do { grant = try Self.verify(kept, client) } catch { throw Self.untrusted(error) }
            let (used, mustStore) = kept.meter.use(anchor: kept.anchor, bootID: try identity.bootID(), at: instant)
            stored.grant = kept
            advanced = mustStore ? stored : nil
            guard used < grant.granted else { return }
            self.grant = grant
            left = grant.granted - used
            state = .confirmed
            obstacle = nil
        } catch {
            obstacle = error
        }
    }

    /// The stored grant is the server's answer to the request that was made at the stored anchor.
    private static func verify(_ kept: StoredGrant, _ client: StoredClient) throws(Grant.Fault) -> Grant {
        let grant = try Grant(verifying: kept.text, serverKey: client.serverKey)
        try grant.check(client: client.uuid, nonce: kept.anchor.nonce, machine: client.machine)
        return grant
    }

    static func untrusted(_ fault: Grant.Fault) -> RegistryError {
        RegistryError(
            .untrustedGrant,
            "the server's confirmation cannot be trusted: authenticate again, and check that the configured server is the one that this device "
                + "was registered at; if it was set up anew, clear the registration and register again", cause: fault.rawValue)
    }
}

extension Grant {
    func check(client: String, nonce: String?, machine: String) throws(Fault) {
        guard clientUUID == client else { throw .client }
        guard let nonce, self.nonce == nonce else { throw .nonce }
        guard self.machine == machine else { throw .machine }
    }
}
