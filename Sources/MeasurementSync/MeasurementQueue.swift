public import MeasurementModel
public import ProbeLog

/// Finished reports on their way to the server: on the disk until the server has them, silent while a test runs.
///
///     let queue = MeasurementQueue(stateDirectory: "/var/lib/fieldprobe")
///     try queue.start(uploader: uploader)
///     try await queue.queueMeasurement(report: report)
///
/// Several processes may use one state directory. All of them may queue, one of them sends, and when it ends another one does. What each
/// call promises: docs/measurement-sync.md.
public final class MeasurementQueue: Sendable {
    /// Limits and intervals of a queue.
    public struct Settings: Sendable {
        /// Reports that are kept. One more drops the oldest.
        public var limit = 50
        /// Between a failed upload and the next try.
        public var retryInterval: Duration = .seconds(60)
        /// Octets that a report may have.
        public var maximumReportSize = 32 << 20
        /// How long a test's start waits at most for an upload to break off. It takes milliseconds, but where the sending process hangs.
        public var silenceLimit: Duration = .seconds(2)

        public init() {}
    }

    let settings: Settings
    let store: FolderStore
    let counters: QueueCounters
    let hub: EventHub
    let activity: TestActivityLock
    let loop: QueueLoop
    let logger: Logger

    /// Touches nothing yet.
    public convenience init(stateDirectory: String, settings: Settings = Settings(), logger: Logger = .silent) {
        var timing = UploadMachine.Timing()
        timing.retryInterval = settings.retryInterval
        self.init(stateDirectory: stateDirectory, settings: settings, timing: timing, logger: logger)
    }

    package convenience init(
        stateDirectory: String, settings: Settings, logger: Logger, lookAgain: Duration, grace: Duration,
        uploadLimit: Duration = .seconds(600)
    ) {
        var timing = UploadMachine.Timing()
        timing.retryInterval = settings.retryInterval
        timing.lookAgain = lookAgain
        timing.grace = grace
        timing.uploadLimit = uploadLimit
        self.init(stateDirectory: stateDirectory, settings: settings, timing: timing, logger: logger)
    }

    private init(stateDirectory: String, settings: Settings, timing: UploadMachine.Timing, logger: Logger) {
        let folder = StateFolder(stateDirectory)
        self.settings = settings
        self.logger = logger.named("MeasurementQueue")
        store = FolderStore(folder, limit: settings.limit, maximumSize: settings.maximumReportSize)
        counters = QueueCounters(folder)
        hub = EventHub(logger: logger)
        activity = TestActivityLock(folder, logger: self.logger)
        loop = QueueLoop(store: store, counters: counters, events: hub, timing: timing)
    }

    deinit {
        loop.stop()
        hub.finish()
    }

    /// Sends from now on, whenever no test runs: what is pending at once, and what comes as it comes. A registry calls this as soon as the
    /// device has credentials; calling it again replaces the uploader.
    ///
    /// - Throws: ``QueueError`` when the machine has no thread for it. What the disk refuses is told as an event, and tried again.
    public func start(uploader: some ReportUploader) throws(QueueError) {
        loop.post(.uploader(uploader))
        if activity.tests > 0 { loop.post(.event(.testsHere(true))) }
        try loop.start()
    }

    /// Stops sending, and returns when nothing flows any more. Reports stay on the disk.
    public func close() async {
        await loop.close()
        hub.finish()
    }

    // MARK: Queueing

    /// Writes the report to the disk, where neither a kill nor a power cut takes it away once this has returned, and sends it as soon as no
    /// test runs. A report that is pending already, by its id, is not queued twice. Blocks for as long as the disk takes.
    public func queueMeasurement(report: Report) throws(QueueError) { try enqueue(report.id, report.json.utf8(), fault: nil) }

    /// The same without blocking a thread of the cooperative pool.
    public func queueMeasurement(report: Report) async throws(QueueError) {
        let result = await QueueThread.value("queue-write") { [self] in
            Result { () throws(QueueError) in try enqueue(report.id, report.json.utf8(), fault: nil) }
        }
        try result.get()
    }

    /// A report that is a JSON document already.
    ///
    /// - Parameters:
    ///   - id: the report's.
    ///   - json: with `schema` and with this id.
    public func queueMeasurement(id: String, json: [UInt8]) throws(QueueError) {
        try enqueue(id, json, fault: ReportFile.fault(in: json, id: id))
    }

    private func enqueue(_ id: String, _ octets: [UInt8], fault: String?) throws(QueueError) {
        let result: FolderStore.Enqueued
        do throws(QueueError) {
            if let fault {
                throw QueueError(.invalidReport, "this is no report of schema \(Report.schema) with the id '\(id)': \(fault)")
            }
            result = try store.enqueue(id: id, octets)
        } catch {
            hub.tell(.notQueued(id: id, error))
            throw error
        }
        guard !result.isRepeat else { return }
        counters.add { counts in
            counts.enqueued += 1
            counts.dropped += result.dropped.count
        }
        hub.tell(.enqueued(id: id))
        for name in result.dropped { hub.tell(.dropped(id: name.id)) }
    }

    // MARK: Looking

    /// Every event from now on. Each call gives a stream of its own; one that is not read keeps the newest 256, and
    /// ``QueueStatistics/missedEvents`` counts the others.
    public var events: AsyncStream<QueueEvent> { hub.observe() }

    /// Reports on the disk that the server does not have yet; 0 where the folder cannot be read.
    public func getPendingCount() -> Int { (try? store.list().names.count) ?? 0 }

    /// This process is sending a report now.
    public func isSending() -> Bool { loop.isSending }
}
