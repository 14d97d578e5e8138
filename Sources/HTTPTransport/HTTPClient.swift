internal import Synchronization

/// An HTTP client over libcurl. One thread carries all of its requests: it is made for the first one and ends with ``close()``.
///
/// Certificates are always checked; there is no way to turn that off. Connections are kept and used again within one client, and each
/// response says whether one was. Each new connection asks the system's resolver anew: nothing here remembers names.
public final class HTTPClient: Sendable {
    /// What all requests of a client have in common.
    public struct Settings: Sendable {
        public var userAgent = "fieldprobe"
        /// Certificates in PEM form that are trusted instead of the system's.
        public var caFile: String?
        /// Every connection ends with a reset, which throws away what the kernel has not sent yet, also when this process is killed; and
        /// one connection carries one request at a time (HTTP/1.1), so that a request cannot be cancelled without ending it. When a
        /// cancelled request has thrown, not an octet of it is on its way any more.
        public var endsAbruptly = false

        public init() {}
    }

    private let settings: Settings
    private let thread = CurlThread()

    public init(settings: Settings = Settings()) { self.settings = settings }

    deinit { thread.stop() }

    /// Carries out a request and follows its redirects.
    ///
    /// - Throws: ``HTTPError`` when no complete response came, `CancellationError` as soon as the task is cancelled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = thread.nextID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                thread.submit(Transfer(id: id, request: request, settings: settings, continuation: continuation))
                // A cancellation that came before the request was submitted found nothing to cancel.
                if Task.isCancelled { thread.cancel(id) }
            }
        } onCancel: {
            thread.cancel(id)
        }
    }

    /// Ends the client and its thread. Requests that are under way fail with ``HTTPError/Code/closed``, and so do later ones.
    public func close() async { await thread.close() }
}
