import MeasurementModel

@testable import MeasurementSync

/// One process on a ``World``: the product's driver and machine, on a ground of paper.
final class SimulatedProcess: QueueGround {
    enum Notice {
        case event(UploadEvent)
        case files
    }

    let number: Int
    let world: World
    var isAlive = true
    var notices: [Notice] = []
    var driver: QueueDriver<SimulatedProcess>?
    var upload: (name: QueuedName, isAborted: Bool)?
    var hasTest = false
    /// Accepted by the server, as this process has been told: it may not send them again.
    var knownAccepted: Set<String> = []
    /// To be cleared, which the disk did not allow.
    var doomed: Set<String> = []
    var openSends: Set<Int> = []
    var results: [SendResult] = []
    /// Reports that were pending when a send was asked for.
    var sendSizes: [Int: Int] = [:]

    init(number: Int, world: World) {
        self.number = number
        self.world = world
    }

    func boot() {
        driver = QueueDriver(ground: self)
        driver?.scan()
        driver?.handle(.uploader(false))
        if world.isRegistered { driver?.handle(.configured) }
    }

    /// What kill -9 leaves.
    func die() {
        isAlive = false
        driver = nil
        notices = []
        if let upload, world.chance(50), !world.refused.contains(upload.name.id), world.mode == .good {
            world.stored.insert(upload.name.id)
        }
        upload = nil
        openSends = []
        hasTest = false
        if world.lineHolder == number { world.lineHolder = nil }
        world.grantLine()
        world.endTest(number)
        if world.uploaderHolder == number {
            world.uploaderHolder = nil
            world.broadcast(.event(.uploaderMayBeFree))
        }
    }

    func hear() {
        let heard = notices
        notices = []
        for notice in heard {
            switch notice {
            case .event(let event): driver?.handle(event)
            case .files: driver?.scan()
            }
        }
        if let upload, world.files[upload.name] == nil, !upload.isAborted {
            world.fault("\(upload.name.id) is not there any more, and still sent")
        }
    }

    func wakeIfDue() {
        if let moment = driver?.wakeAt, moment <= world.now { driver?.wake() }
    }

    // MARK: QueueGround

    func now() -> MonotonicInstant { world.now }

    func list() throws(QueueError) -> FolderStore.Listing { FolderStore.Listing(names: world.files.keys.sorted()) }

    func load(_ name: QueuedName) -> LoadedReport {
        switch world.files[name] {
        case nil: .gone
        case .bad?: .unreadable(code: "no_report", detail: "zeros")
        case .good?: .body([])
        }
    }

    func remove(_ name: QueuedName) throws(QueueError) {
        if doomed.contains(name.id) {
            if world.isReadOnly { throw .failed("unlink", name.file, 30) }
            world.files[name] = nil
            world.cleared.insert(name.id)
            return world.broadcast(.files)
        }
        if !world.stored.contains(name.id) { world.fault("\(name.id) is deleted, and the server does not have it") }
        knownAccepted.insert(name.id)
        if world.isReadOnly { throw .failed("unlink", name.file, 30) }
        if world.files.removeValue(forKey: name) != nil { world.broadcast(.files) }
        world.accepted.insert(name.id)
    }

    func quarantine(_ name: QueuedName, code: String, detail: String) throws(QueueError) {
        if !world.refused.contains(name.id), world.files[name] == .good { world.fault("\(name.id) is moved aside without a reason") }
        if world.isReadOnly { throw .failed("rename", name.file, 30) }
        if world.files.removeValue(forKey: name) != nil { world.broadcast(.files) }
        world.aside.insert(name.id)
    }

    func setForeignAside(_ listing: FolderStore.Listing) -> [String] { [] }

    func clear() throws(QueueError) -> Int {
        if world.isReadOnly {
            doomed.formUnion(world.files.keys.map(\.id))
            throw .failed("unlink", "queue", 30)
        }
        let count = world.files.count
        for name in world.files.keys { world.cleared.insert(name.id) }
        world.files = [:]
        world.broadcast(.files)
        return count
    }

    func count(_ change: (inout QueueCounts) -> Void) { change(&world.counts) }

    func takeLine() -> Bool {
        if world.lineHolder == number { return true }
        guard world.lineHolder == nil, world.quiet.isEmpty else { return false }
        world.lineHolder = number
        return true
    }

    func releaseLine() {
        guard world.lineHolder == number else { return }
        if upload != nil { world.fault("the line is given back while something flows") }
        world.lineHolder = nil
        world.grantLine()
    }

    func isTestRunning() -> Bool { world.lineHolder == nil && !world.quiet.isEmpty }

    func tryUploader() -> Bool {
        if world.uploaderHolder == nil { world.uploaderHolder = number }
        return world.uploaderHolder == number
    }

    func yieldUploader() {
        guard world.uploaderHolder == number else { return }
        world.uploaderHolder = nil
        world.broadcast(.event(.uploaderMayBeFree), but: number)
    }

    func askForUploader() { world.broadcast(.event(.uploaderWanted)) }

    func startUpload(_ name: QueuedName, body: [UInt8]) {
        if upload != nil { world.fault("two uploads at once") }
        if doomed.contains(name.id) { world.fault("\(name.id) is sent, and was to be cleared") }
        if knownAccepted.contains(name.id) { world.fault("\(name.id) is sent again, and its acceptance was known") }
        if !world.isRegistered { world.fault("\(name.id) is sent without a registration") }
        if world.uploaderHolder != number { world.fault("a process sends that may not") }
        upload = (name, false)
    }

    func abortUpload() { upload?.isAborted = true }

    func finish(_ send: Int, _ result: SendResult) {
        if openSends.remove(send) == nil { world.fault("send \(send) is answered twice") }
        if case .success(let count) = result, count > sendSizes[send] ?? 0 { world.fault("send \(send) counts more than there was") }
        results.append(result)
    }

    func tell(_ event: QueueEvent) {}
}
