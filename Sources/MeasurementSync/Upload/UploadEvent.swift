/// What ``UploadMachine`` is told.
enum UploadEvent: Sendable {
    case configured
    case registrationLost(reason: String)
    /// This process stops sending, and everything stays as it is.
    case stopped
    /// This process is the one that may send, or is not.
    case uploader(Bool)
    /// The folder's listing.
    case listed([QueuedName])
    /// Tests run in this process.
    case testsHere(Bool)
    /// Somebody has opened the activity lock: a test is about to start in another process.
    case lineWanted
    /// Somebody has closed it.
    case lineMayBeFree
    /// Another process wants to send.
    case uploaderWanted
    /// The process that may send has ended or has let go.
    case uploaderMayBeFree
    case send(Int)
    case reset
    case woken

    // Answers to actions.

    case started(QueuedName)
    /// A test holds the line.
    case lineBusy(QueuedName)
    case gone(QueuedName)
    case unreadable(QueuedName, code: String, detail: String)
    case ended(QueuedName, UploadOutcome)
    case probed(Int, isTestRunning: Bool)
}

/// What ``UploadMachine`` wants done. Each is carried out before the next event is told.
enum UploadAction: Sendable, Hashable {
    /// Load the report, take the line, and start to send. Answered by `started`, `lineBusy`, `gone`, `unreadable` or `ended`.
    case upload(QueuedName)
    /// End the upload under way; it is still answered by `ended`.
    case abort
    /// No octet flows any more: tests may have the line.
    case releaseLine
    case remove(QueuedName)
    case quarantine(QueuedName, code: String, detail: String)
    case clear(reason: String)
    /// Ask whether a test runs in any process. Answered by `probed`.
    case probe(Int)
    /// Answered by `uploader`.
    case tryUploader
    /// Let another process send.
    case yieldUploader
    case askForUploader
    case finish(Int, SendResult)
    case tell(QueueEvent)
}

/// What `sendPendingMeasurements()` gives.
typealias SendResult = Result<Int, QueueError>
