internal import Glibc
internal import MeasurementModel

/// One writer of the state files at a time.
extension Registry {
    private static let patience = Duration.seconds(60)

    /// Does the work under the lock of the state folder. Another process may hold it while it registers.
    func locked<Result>(_ work: () async throws -> Result) async throws -> Result {
        let end = MonotonicInstant.now() + Self.patience
        while true {
            if let lock = try tryLock() {
                defer { withExtendedLifetime(lock) {} }
                return try await work()
            }
            guard MonotonicInstant.now() < end else { throw Self.busy }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The same for callers that cannot wait: what takes longer than a second here is a registration.
    ///
    /// - Parameter attempts: five milliseconds apart.
    func lockedNow<Result>(attempts: Int = 200, _ work: () throws(RegistryError) -> Result) throws(RegistryError) -> Result {
        for attempt in 1...attempts {
            if let lock = try tryLock() {
                defer { withExtendedLifetime(lock) {} }
                return try work()
            }
            if attempt < attempts { usleep(5000) }
        }
        throw Self.busy
    }

    private func tryLock() throws(RegistryError) -> FolderLock? {
        do throws(SystemError) {
            try store.prepareFolder()
            return try FolderLock.tryAcquire(store.folder + "/lock")
        } catch {
            throw RegistryError(
                .unwritableState,
                "the state folder \(store.folder) cannot be used: make it, let this user write there, or name another state folder",
                retry: .later(after: nil), cause: error.description)
        }
    }

    private static let busy = RegistryError(
        .busy, "another process is changing this device's registration: try again when it is done", retry: .later(after: .seconds(5)))
}
