internal import Glibc
internal import MeasurementModel

/// The reports of one state folder: one file each, and the folder's listing is the truth.
///
/// No lock is needed between processes. Every change is one rename(2) or unlink(2), and whoever comes second finds it done.
struct FolderStore: Sendable {
    let folder: StateFolder
    /// Reports that are kept.
    let limit: Int
    /// Octets that a report may have.
    let maximumSize: Int
    let quarantine: Quarantine

    init(_ folder: StateFolder, limit: Int, maximumSize: Int = 32 << 20) {
        self.folder = folder
        self.limit = max(1, limit)
        self.maximumSize = maximumSize
        quarantine = Quarantine(folder)
    }

    struct Enqueued: Sendable, Hashable {
        let name: QueuedName
        /// It was there already.
        let isRepeat: Bool
        /// What had to go for it.
        let dropped: [QueuedName]
    }

    /// When this returns, neither a kill nor a power cut takes the report away.
    func enqueue(id: String, _ octets: [UInt8]) throws(QueueError) -> Enqueued {
        guard QueuedName.isID(id.utf8) else {
            throw QueueError(.invalidReport, "'\(id)' is no id for a report: use letters, digits, '-' and '_', 64 at most")
        }
        guard octets.count <= maximumSize else {
            throw QueueError(.tooLarge, "a report has at most \(maximumSize) octets, and this one has \(octets.count): record less in it")
        }
        try folder.create()
        let file = try DurableFile.write(octets, in: folder.queue)
        let pending: [QueuedName]
        do throws(QueueError) {
            pending = try list().names
        } catch {
            file.discard()
            throw error
        }
        if let same = pending.first(where: { $0.id == id }) {
            file.discard()
            // The process that queued it may not have got that far yet.
            try StateFolder.synchronise(folder.queue)
            return Enqueued(name: same, isRepeat: true, dropped: [])
        }
        let name = QueuedName(sequence: (pending.last?.sequence ?? 0) &+ 1, id: id)
        try file.publish(as: name.file)
        return Enqueued(name: name, isRepeat: false, dropped: pending.count < limit ? [] : try dropOldest(but: name))
    }

    /// Only what this call has removed is counted: of two processes that see one report too many, one drops it.
    private func dropOldest(but name: QueuedName) throws(QueueError) -> [QueuedName] {
        let pending = try list().names
        var dropped: [QueuedName] = []
        for oldest in pending.prefix(max(0, pending.count - limit)) where oldest != name {
            if unlink(path(oldest)) == 0 { dropped.append(oldest) }
        }
        return dropped
    }

    struct Listing: Sendable {
        /// In the order of queueing.
        var names: [QueuedName] = []
        /// Everything else.
        var foreign: [String] = []
    }

    func list() throws(QueueError) -> Listing {
        var listing = Listing()
        for file in try StateFolder.names(in: folder.queue) {
            if let name = QueuedName(file: file) {
                listing.names.append(name)
            } else if !file.hasPrefix(DurableFile.prefix) {
                listing.foreign.append(file)
            }
        }
        listing.names.sort()
        return listing
    }

    func load(_ name: QueuedName) -> LoadedReport { ReportFile.load(path(name), id: name.id, maximum: maximumSize) }

    /// Needs no space. It is not made durable: a report that a power cut brings back is known to the server by its id.
    func remove(_ name: QueuedName) throws(QueueError) {
        guard unlink(path(name)) == 0 || errno == ENOENT else { throw .failed("unlink", path(name), errno) }
    }

    /// Everything goes, quarantine included: it was measured under an identity that is no more.
    ///
    /// - Returns: how many reports were pending.
    func clear() throws(QueueError) -> Int {
        let listing = try list()
        // The newest first: the one that is being sent is mostly the oldest, and with it gone the next one would begin.
        for name in listing.names.reversed() { try remove(name) }
        for file in listing.foreign { unlink("\(folder.queue)/\(file)") }
        try quarantine.clear()
        LastFailure.forget(in: folder)
        try DurableFile.sweep(folder.queue)
        return listing.names.count
    }

    /// Moves a file back into the queue, as the newest. The limit drops nothing for it: it is applied with the next report.
    func putBack(_ path: String, id: String) throws(QueueError) {
        guard QueuedName.isID(id.utf8) else { throw QueueError(.invalidReport, "'\(id)' is no id for a report") }
        let pending = try list().names
        guard !pending.contains(where: { $0.id == id }) else {
            throw QueueError(.invalidReport, "a report '\(id)' is in the queue already: delete the one in quarantine")
        }
        let name = QueuedName(sequence: (pending.last?.sequence ?? 0) &+ 1, id: id)
        guard rename(path, self.path(name)) == 0 else { throw .failed("rename", path, errno) }
        try StateFolder.synchronise(folder.queue)
    }

    /// Moves everything out of the queue that is no report.
    func setForeignAside(_ listing: Listing) -> [String] {
        listing.foreign.filter { file in
            (try? quarantine.take("\(folder.queue)/\(file)", code: "foreign", detail: "its name is none that the queue gives")) != nil
        }
    }

    func path(_ name: QueuedName) -> String { "\(folder.queue)/\(name.file)" }
}
