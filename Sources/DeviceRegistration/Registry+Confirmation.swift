internal import CollectorCore
internal import MeasurementModel

/// What a test needs to know of the registration that lets it run.
public struct RegistrationConfirmation: Sendable, Hashable {
    public let clientUUID: String
    public let label: String?
    public let tags: [String]
    /// Nil where nothing is restricted.
    public let capability: Capability?
    /// How much longer tests may run.
    public let left: Duration
    /// The server's clock minus this device's; nil where it is not known.
    public let clockOffset: Duration?
    /// How far ``clockOffset`` may be off, either way.
    public let clockUncertainty: Duration?
}

/// Everything about the registration that people may want to see. There is no secret in it.
public struct RegistrationStatus: Sendable {
    public let state: RegistrationState
    /// Where the device is registered.
    public let apiEndpoint: String?
    public let clientUUID: String?
    public let label: String?
    public let tags: [String]
    /// With ``RegistrationState/confirmed`` only.
    public let confirmation: RegistrationConfirmation?
    /// With any other state: why no test may run, and what to do.
    public let obstacle: RegistryError?
}

extension Registry {
    /// Whether a test may run now. What it uses of the granted time is stored when this returns; it is asked for each test.
    ///
    /// - Throws: ``RegistryError`` that says what to do: never registered, dropped, confirmation run out, state files that cannot be used.
    public func confirmation() throws(RegistryError) -> RegistrationConfirmation {
        let standing = try standing()
        if let obstacle = standing.obstacle { throw obstacle }
        try storeUse()
        guard let confirmation = try confirmation(standing) else { throw .confirmationExpired }
        return confirmation
    }

    /// Where this device stands, in one look. Nothing is sent.
    ///
    /// - Throws: ``RegistryError`` when the state files cannot be read.
    public func status() throws(RegistryError) -> RegistrationStatus {
        let standing = try standing()
        let client = standing.stored?.client
        return RegistrationStatus(
            state: standing.state, apiEndpoint: client?.endpoint, clientUUID: client?.uuid ?? standing.stored?.drop?.clientUUID,
            label: client?.label, tags: client?.tags ?? [], confirmation: try confirmation(standing), obstacle: standing.obstacle)
    }

    private func confirmation(_ standing: Standing) throws(RegistryError) -> RegistrationConfirmation? {
        guard let client = standing.stored?.client, let grant = standing.grant, let left = standing.left else { return nil }
        let serverTime = standing.stored?.grant?.serverTime
        let offset = serverTime?.offset(
            bootID: try settings.machine.bootID(), instant: settings.clock.now(), wall: settings.clock.wall())
        return RegistrationConfirmation(
            clientUUID: client.uuid, label: grant.label, tags: grant.tags, capability: grant.capability, left: left, clockOffset: offset,
            clockUncertainty: offset == nil ? nil : serverTime?.uncertainty)
    }

    /// Stores how much of the grant is used, where that is not stored yet. Without a place to store it, a restart of the machine would give it
    /// back.
    func storeUse(attempts: Int = 200) throws(RegistryError) {
        guard evaluated(try store.load()).advanced != nil else { return }
        try lockedNow(attempts: attempts) { () throws(RegistryError) in
            // Again under the lock: another process may have stored it, or changed everything.
            if let advanced = evaluated(try store.load()).advanced { try store.replace(advanced) }
        }
    }
}
