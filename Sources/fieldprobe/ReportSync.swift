internal import DeviceRegistration
internal import Glibc
internal import MeasurementModel
internal import MeasurementSync
internal import QualityTests

/// The queue's part in one run of this program: silent while the test runs, then the way of the report to the server (R-38, R-40).
struct ReportSync {
    private let queue: MeasurementQueue?
    private let uploader: (any ReportUploader)?
    let activity: any TestActivity

    init(_ arguments: ParsedArguments, _ configuration: Configuration) throws {
        guard !arguments.isSet("unregistered") else {
            // The report stays here, and other processes' uploads have to be silent all the same, where there is a queue at all.
            let hasQueue = access(configuration.stateDirectory, W_OK) == 0
            queue = nil
            uploader = nil
            activity = hasQueue ? SilencingActivity(queue: UploaderFactory.queue(configuration)) : NoActivity()
            return
        }
        let queue = UploaderFactory.queue(configuration)
        self.queue = queue
        uploader = arguments.isSet("no-upload") ? nil : try UploaderFactory.uploader(configuration)
        activity = QueueActivity(queue)
    }

    /// Tries to send what waits, once. What fails stays in the queue, and the run's own outcome does not depend on it.
    func send() async {
        guard let queue, let uploader else { return }
        do {
            try queue.start(uploader: uploader)
            let waiting = queue.getPendingCount()
            if isatty(2) != 0, waiting > 0 { Output.complain("sending \(waiting) report\(waiting == 1 ? "" : "s") ...") }
            let sent = try await queue.sendPendingMeasurements()
            let left = queue.getPendingCount()
            if left > 0 { Output.complain("\(sent) of \(waiting) reports sent; the rest stays in the queue: see 'fieldprobe queue list'") }
        } catch {
            Output.complain("the report stays in the queue: \(error)")
        }
        await queue.close()
    }
}

/// Silences uploads while a test runs whose report nobody sends.
private struct SilencingActivity: TestActivity {
    let queue: MeasurementQueue

    func begin(test id: String) async { await queue.onTestStarted() }
    func end(test id: String, with report: Report) async { queue.onTestFinished() }
}
