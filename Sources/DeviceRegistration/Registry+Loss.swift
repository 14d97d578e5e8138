internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// How a registration ends, and how everybody hears of it: through one place.
extension Registry {
    /// Discards the stored credentials, and with them everything that waits to be sent. The server is not told: the slot stays taken
    /// . It also clears state files that cannot be read.
    ///
    /// That an administrator has disabled this device is not forgotten: registering again still has to be forced.
    public func clearRegistrationInfo() throws(RegistryError) {
        var cleared: String?
        try lockedNow { () throws(RegistryError) in
            let stored = try? store.load()
            cleared = stored?.client?.uuid
            if let drop = stored?.drop, !drop.reason.allowsRegisteringAgain {
                try store.replace(StoredRegistration(drop: drop), keepsPrevious: false)
            } else {
                try store.removeAll()
            }
        }
        settings.logger.named("Registry").info("the registration was cleared")
        lost(RegistrationLoss(cause: .cleared, clientUUID: cleared))
    }

    /// Removes this client on the server, which frees its slot, and discards the credentials.
    ///
    /// - Throws: ``RegistryError``, or `CancellationError`. Nothing has changed then, unless the server refused this device.
    public func unregisterClient() async throws {
        let client = try credentials()
        let answer = try await withToken { try await connection.send("DELETE", "/clients/self", token: $0) }
        guard answer.status == 204 else {
            let refusal = answer.refusal
            if let reason = refusal.dropReason { try drop(reason, client) }
            throw refusal
        }
        try lockedNow { () throws(RegistryError) in
            guard try store.load()?.client?.uuid == client.uuid else { return }
            try store.removeAll()
        }
        settings.logger.named("Registry").info("unregistered", ("client", client.uuid))
        lost(RegistrationLoss(cause: .unregistered, clientUUID: client.uuid))
    }

    /// The server has refused the device: credentials go, the reason stays.
    func drop(_ reason: DropReason, _ client: StoredClient) throws(RegistryError) {
        let drop = StoredDrop(reason: reason, clientUUID: client.uuid)
        var isCurrent = true
        do throws(RegistryError) {
            try lockedNow { () throws(RegistryError) in
                let stored = try store.load()
                // Another process has registered anew in the meantime: its credentials are not meant.
                isCurrent = stored?.client?.uuid == client.uuid && stored?.client?.secret == client.secret
                if isCurrent { try store.replace(StoredRegistration(drop: drop), keepsPrevious: false) }
            }
        } catch {
            // A full or broken disk: for this process the device is refused all the same. The next one asks the server anew.
            memory.withLock { $0.refused = drop }
            settings.logger.named("Registry").error("the server's refusal could not be stored", ("error", error.description))
        }
        guard isCurrent else { return }
        settings.logger.named("Registry").warning("the server refused this device", ("reason", reason.code))
        lost(RegistrationLoss(cause: .dropped(reason), clientUUID: client.uuid))
    }

    /// Calls the handler whenever the registration is lost, by whichever way, and at once if there is none now. The queue clears itself then:
    /// what was measured under an identity belongs to nobody without it. A loss may be told more than once.
    ///
    /// The handler runs where the loss was noticed, and must not block for long.
    public func whenLost(_ handler: @escaping @Sendable (RegistrationLoss) -> Void) {
        let standing = try? standing()
        memory.withLock { $0.lossHandlers.append(handler) }
        // State files that cannot be read are no loss: they are to be repaired.
        guard let standing, standing.stored?.client == nil else { return }
        let drop = standing.stored?.drop
        handler(RegistrationLoss(cause: drop.map { .dropped($0.reason) } ?? .none, clientUUID: drop?.clientUUID))
    }

    /// The states that this device goes through from now on, the present one first. A slow reader misses old ones, never the newest.
    public func stateChanges() -> AsyncStream<RegistrationState> {
        let standing = try? standing()
        let (stream, continuation) = AsyncStream.makeStream(of: RegistrationState.self, bufferingPolicy: .bufferingNewest(16))
        let number = memory.withLock { memory in
            memory.nextStream += 1
            memory.streams[memory.nextStream] = continuation
            return memory.nextStream
        }
        continuation.onTermination = { [weak self] _ in self?.memory.withLock { _ = $0.streams.removeValue(forKey: number) } }
        if let standing { continuation.yield(standing.state) }
        return stream
    }

    private func lost(_ loss: RegistrationLoss) {
        let handlers = memory.withLock { memory in
            memory.token = nil
            memory.lastClient = nil
            return memory.lossHandlers
        }
        for handler in handlers { handler(loss) }
        _ = try? standing()
    }

    /// Tells what is different from the last time: a change that another process has made is noticed here.
    func tell(_ standing: Standing) {
        let client = standing.stored?.client?.uuid
        let (streams, vanished, handlers) = memory.withLock { memory in
            let vanished = client == nil ? memory.lastClient : nil
            memory.lastClient = client
            if vanished != nil { memory.token = nil }
            let isNew = memory.lastState != standing.state
            memory.lastState = standing.state
            return (isNew ? Array(memory.streams.values) : [], vanished, vanished == nil ? [] : memory.lossHandlers)
        }
        for stream in streams { stream.yield(standing.state) }
        guard let vanished else { return }
        let cause: RegistrationLoss.Cause = if case .dropped(let reason) = standing.state { .dropped(reason) } else { .cleared }
        for handler in handlers { handler(RegistrationLoss(cause: cause, clientUUID: vanished)) }
    }
}
