internal import MeasurementModel

/// What the queue stands on: files, locks, a clock and a way to the server. The product has the kernel's, a test has its own.
protocol QueueGround: AnyObject {
    func now() -> MonotonicInstant
    func list() throws(QueueError) -> FolderStore.Listing
    func load(_ name: QueuedName) -> LoadedReport
    func remove(_ name: QueuedName) throws(QueueError)
    func quarantine(_ name: QueuedName, code: String, detail: String) throws(QueueError)
    func setForeignAside(_ listing: FolderStore.Listing) -> [String]
    func clear() throws(QueueError) -> Int
    func count(_ change: (inout QueueCounts) -> Void)

    /// Takes the line for uploads. False while a test holds it, in whatever process.
    func takeLine() -> Bool
    func releaseLine()
    /// A test runs in some process; false also while another process sends.
    func isTestRunning() -> Bool
    func tryUploader() -> Bool
    func yieldUploader()
    func askForUploader()

    /// Begins to send; the end is told to the driver by the owner.
    func startUpload(_ name: QueuedName, body: [UInt8])
    func abortUpload()
    func finish(_ send: Int, _ result: SendResult)
    func tell(_ event: QueueEvent)
}
