internal import CLinux
internal import Glibc
internal import MeasurementModel

/// The kernel's ground. One thread owns it.
final class SystemGround: QueueGround {
    let store: FolderStore
    private let counters: QueueCounters
    private let events: EventHub
    /// Tells the owner of an upload's end, from any thread.
    private let ended: @Sendable (QueuedName, UploadOutcome) -> Void
    private let finished: (Int, SendResult) -> Void

    var uploader: (any ReportUploader)?
    private(set) var watch: FolderWatch?
    private var line: KernelLock?
    private var hasLine = false
    private var uploaderLock: KernelLock?
    private var isUploader = false
    private var upload: Task<Void, Never>?

    init(
        store: FolderStore, counters: QueueCounters, events: EventHub, ended: @escaping @Sendable (QueuedName, UploadOutcome) -> Void,
        finished: @escaping (Int, SendResult) -> Void
    ) {
        self.store = store
        self.counters = counters
        self.events = events
        self.ended = ended
        self.finished = finished
    }

    /// Opens locks and watches. Before it has succeeded nothing is sent.
    func open() throws(QueueError) {
        guard watch == nil else { return }
        try store.folder.create()
        // The locks first: the watch shall not tell of our own opening.
        line = try KernelLock(store.folder.activityLock)
        uploaderLock = try KernelLock(store.folder.uploaderLock)
        // Opened only to make it: opening it means something.
        if access(store.folder.uploaderWanted, F_OK) != 0 { _ = try KernelLock(store.folder.uploaderWanted) }
        watch = try FolderWatch(store.folder)
        try DurableFile.sweep(store.folder.queue)
    }

    /// The files that the locks are on, are still the ones that others find.
    var isCurrent: Bool { line?.isCurrent == true && uploaderLock?.isCurrent == true && watch != nil }

    func close() {
        watch = nil
        line = nil
        uploaderLock = nil
        hasLine = false
        isUploader = false
    }

    func now() -> MonotonicInstant { .now() }
    func list() throws(QueueError) -> FolderStore.Listing { try store.list() }
    func load(_ name: QueuedName) -> LoadedReport { store.load(name) }
    func remove(_ name: QueuedName) throws(QueueError) { try store.remove(name) }
    func quarantine(_ name: QueuedName, code: String, detail: String) throws(QueueError) {
        try store.quarantine.take(store.path(name), code: code, detail: detail)
    }
    func setForeignAside(_ listing: FolderStore.Listing) -> [String] { store.setForeignAside(listing) }
    func clear() throws(QueueError) -> Int { try store.clear() }
    func count(_ change: (inout QueueCounts) -> Void) { counters.add(change) }

    func takeLine() -> Bool {
        if hasLine { return true }
        guard let line, line.isCurrent else { return false }
        // Another process may be asking at this very moment whether a test runs; it holds the lock for two system calls.
        for attempt in 0..<4 {
            if attempt > 0 { usleep(1000) }
            if line.tryExclusive() {
                hasLine = true
                return true
            }
        }
        return false
    }

    func releaseLine() {
        guard hasLine else { return }
        line?.unlock()
        hasLine = false
    }

    func isTestRunning() -> Bool {
        guard !hasLine, let line else { return false }
        defer { line.unlock() }
        if line.tryExclusive() { return false }
        // Beside a test's lock there is room for a shared one, beside a sender's there is none.
        return line.tryShared()
    }

    func tryUploader() -> Bool {
        guard !isUploader else { return true }
        isUploader = uploaderLock?.tryExclusive() ?? false
        return isUploader
    }

    /// A new descriptor in the place of the old one: whoever watches is told that it was closed.
    func yieldUploader() {
        isUploader = false
        uploaderLock = nil
        uploaderLock = try? KernelLock(store.folder.uploaderLock)
    }

    func askForUploader() { KernelLock.knock(store.folder.uploaderWanted) }

    func startUpload(_ name: QueuedName, body: [UInt8]) {
        guard let uploader else { return ended(name, .retry(after: nil, .noUploader)) }
        upload = Task.detached { [ended] in ended(name, await uploader.upload(id: name.id, body: body)) }
    }

    func abortUpload() { upload?.cancel() }
    func finish(_ send: Int, _ result: SendResult) { finished(send, result) }
    func tell(_ event: QueueEvent) {
        switch event {
        case .failed(let id, let failure): LastFailure.note(id, failure, in: store.folder)
        case .sent: LastFailure.forget(in: store.folder)
        default: break
        }
        events.tell(event)
    }
}

extension UploadFailure {
    static let noUploader = UploadFailure(code: "no_server", message: QueueError.noServer.message, isServerWide: true)
}
