internal import Glibc
internal import MeasurementModel
internal import ProbeLog

/// The state file, and the copy of the state before it.
///
/// The file is replaced as a whole: a temporary file is written and synced, takes the name, and the folder is synced. Whatever ends the
/// program or the machine in between, the name leads to the old or to the new state. The copy is for a disk that loses or damages the
/// file all the same: credentials are taken from it, a grant is not, because the copy's use of it is behind.
struct RegistrationStore: Sendable {
    let folder: String
    let files: any FileOperations
    let logger: Logger

    private static let limit = 256 * 1024
    var current: String { "\(folder)/registration.json" }
    var previous: String { "\(folder)/registration.previous.json" }

    private enum Content { case absent, good(StoredRegistration), bad(String) }

    /// - Returns: nil when there is no state: this device was never registered, or was told to forget it.
    /// - Throws: ``RegistryError/Code/unreadableState``.
    func load() throws(RegistryError) -> StoredRegistration? {
        let fault: String
        switch content(of: current) {
        case .good(let state): return state
        case .absent: fault = "\(current) is missing"
        case .bad(let why): fault = why
        }
        switch (content(of: previous), content(of: current)) {
        // Another process has replaced the file in the meantime.
        case (_, .good(let state)): return state
        case (.good(var state), _) where state.client != nil:
            logger.warning("the registration was read from its copy", ("fault", fault))
            state.grant = nil
            return state
        case (.absent, .absent): return nil
        default:
            throw RegistryError(
                .unreadableState,
                "the registration in \(folder) cannot be read, or was changed by hand: put the files back, or run as the user who owns "
                    + "them; if they are lost, clear the registration and register again, which takes another slot of the key",
                cause: fault)
        }
    }

    private func content(of path: String) -> Content {
        do throws(SystemError) {
            guard let octets = try files.read(path, limit: Self.limit) else { return .absent }
            guard let state = StateSeal.open(octets) else { return .bad("\(path) is damaged") }
            return .good(state)
        } catch {
            return .bad(error.description)
        }
    }

    /// Puts the new state in the place of the old one. Nothing has changed when it throws, but for the copy.
    ///
    /// - Parameter keepsPrevious: false where the old state holds what must be gone.
    func replace(_ state: StoredRegistration, keepsPrevious: Bool = true) throws(RegistryError) {
        guard let octets = StateSeal.seal(state) else { throw RegistryError.unsuitable("this machine is out of memory") }
        let temporary = "\(folder)/registration.new", copy = "\(folder)/registration.copy"
        do throws(SystemError) {
            try prepareFolder()
            if keepsPrevious {
                if case .good = content(of: current) {
                    try files.remove(copy)
                    try files.link(current, as: copy)
                    try files.rename(copy, to: previous)
                }
            } else {
                // Before the state itself: a copy must never bring back what the state has left behind.
                try files.remove(previous)
                try files.syncFolder(folder)
            }
            try files.write(temporary, octets, mode: 0o600)
            try files.rename(temporary, to: current)
            try files.syncFolder(folder)
        } catch {
            throw unwritable(error)
        }
    }

    /// Removes the state. The copy goes first, and for good, so that it cannot come back alone.
    func removeAll() throws(RegistryError) {
        do throws(SystemError) {
            try files.remove("\(folder)/registration.new")
            try files.remove(previous)
            try files.syncFolder(folder)
            try files.remove(current)
            try files.syncFolder(folder)
        } catch {
            throw unwritable(error)
        }
    }

    func prepareFolder() throws(SystemError) {
        for index in folder.indices.dropFirst() where folder[index] == "/" {
            try files.makeFolder(String(folder[..<index]), mode: 0o755)
        }
        try files.makeFolder(folder, mode: 0o700)
        try files.setMode(folder, 0o700)
    }

    private func unwritable(_ error: SystemError) -> RegistryError {
        RegistryError(
            .unwritableState,
            "the registration cannot be written to \(folder): free or mount its disk, or let this user write there, and try again",
            retry: .later(after: nil), cause: error.description)
    }
}
