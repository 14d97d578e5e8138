/// What became of one try to send one report.
public enum UploadOutcome: Sendable, Hashable {
    /// The server has it.
    case accepted
    /// The server had it already, by its id.
    case alreadyStored
    /// This report will never be accepted: it is moved aside.
    case refusedForGood(code: String, detail: String)
    /// Another try may do better, not before `after` if the server has said so.
    case retry(after: Duration?, UploadFailure)
    /// The server does not know this device any more, or does not want it: the queue is cleared.
    case deviceDropped(reason: String)
}

/// Why a try failed that will be made again.
public struct UploadFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable word.
    public let code: String
    /// What happened, and what to do if it does not pass by itself.
    public let message: String
    /// The next report would fare the same: it is not tried, and all wait together.
    public let isServerWide: Bool

    public init(code: String, message: String, isServerWide: Bool) {
        self.code = code
        self.message = message
        self.isServerWide = isServerWide
    }

    public var description: String { message }
}

/// Carries reports to the server: HTTP in the product, a script in tests.
public protocol ReportUploader: Sendable {
    /// Sends one report. Its id is the idempotency key: the server stores it once, however often it comes.
    ///
    /// Cancellation means that a test has started, and has to be obeyed at once and to the last octet: the connection is reset
    /// (`SO_LINGER` with zero seconds, so that the kernel throws away what it has not sent yet), and the call returns when that is done.
    /// The test waits for it. What it returns then counts only if the server has answered.
    ///
    /// - Parameters:
    ///   - id: of the report.
    ///   - body: the report as UTF-8.
    func upload(id: String, body: [UInt8]) async -> UploadOutcome
}
