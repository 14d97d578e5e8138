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

extension Registry {
    /// Whether a test may run now. What it uses of the granted time is stored when this returns; it is asked for each test.
    ///
    /// - Throws: ``RegistryError`` that says what to do: never registered, dropped, confirmation run out, state files that cannot be used.
    public func confirmation() throws(RegistryError) -> RegistrationConfirmation {
        let standing = try standing()
        if let obstacle = standing.obstacle { throw obstacle }
        if standing.advanced != nil { try storeUse() }
        guard let client = standing.stored?.client, let grant = standing.grant, let left = standing.left else {
            throw .confirmationExpired
        }
        let now = settings.clock.now()
        let serverTime = standing.stored?.grant?.serverTime
        let bootID = try settings.machine.bootID()
        let offset = serverTime?.offset(bootID: bootID, instant: now, wall: settings.clock.wall())
        return RegistrationConfirmation(
            clientUUID: client.uuid, label: grant.label, tags: grant.tags, capability: grant.capability, left: left, clockOffset: offset,
            clockUncertainty: offset == nil ? nil : serverTime?.uncertainty)
    }

    /// Stores how much of the grant is used. Without a place to store it, a restart of the machine would give it back.
    func storeUse() throws(RegistryError) {
        try lockedNow { () throws(RegistryError) in
            // Again under the lock: another process may have stored it, or changed everything.
            let standing = Standing(try store.load(), identity: settings.machine, at: settings.clock.now())
            if let advanced = standing.advanced { try store.replace(advanced) }
        }
    }
}
