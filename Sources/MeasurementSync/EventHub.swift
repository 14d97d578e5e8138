internal import ProbeLog
internal import Synchronization

/// Hands events to every observer and to the log.
final class EventHub: Sendable {
    /// Events that wait for one observer; older ones go first.
    static let capacity = 256

    private struct State {
        var observers: [Int: AsyncStream<QueueEvent>.Continuation] = [:]
        var next = 0
        var missed = 0
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger.named("MeasurementQueue") }

    /// Events that an observer was too slow for.
    var missed: Int { state.withLock { $0.missed } }

    func observe() -> AsyncStream<QueueEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: QueueEvent.self, bufferingPolicy: .bufferingNewest(Self.capacity))
        let id = state.withLock { state in
            state.next += 1
            state.observers[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.observers.removeValue(forKey: id) } }
        return stream
    }

    func tell(_ event: QueueEvent) {
        log(event)
        for observer in state.withLock({ $0.observers.values.map { $0 } }) {
            if case .dropped = observer.yield(event) { state.withLock { $0.missed += 1 } }
        }
    }

    func finish() {
        let observers = state.withLock { state in
            defer { state.observers = [:] }
            return state.observers.values.map { $0 }
        }
        for observer in observers { observer.finish() }
    }

    private func log(_ event: QueueEvent) {
        switch event {
        case .enqueued(let id): logger.info("report queued", ("id", id))
        case .notQueued(let id, let error):
            logger.error("report could not be queued", ("id", id), ("code", "\(error.code)"), ("reason", error.description))
        case .sent(let id, let before): logger.info("report sent", ("id", id), ("stored_before", before ? "yes" : "no"))
        case .failed(let id, let failure):
            logger.warning("upload failed, and will be tried again", ("id", id), ("code", failure.code), ("reason", failure.message))
        case .refused(let id, let code, let detail):
            logger.error("report refused for good, and moved aside", ("id", id), ("code", code), ("reason", detail))
        case .quarantined(let file, let code, let detail):
            logger.error("file moved aside, because it is no report", ("file", file), ("code", code), ("reason", detail))
        case .dropped(let id): logger.error("oldest report dropped, because the queue is full", ("id", id))
        case .paused: logger.info("uploads paused while a test runs")
        case .resumed: logger.info("uploads resumed")
        case .cleared(let reason, let reports):
            logger.warning("queue cleared, because the registration is gone", ("reason", reason), ("reports", "\(reports)"))
        case .trouble(let error): logger.error("the queue's files cannot be used", ("code", "\(error.code)"), ("reason", error.description))
        case .becameUploader(let isUploader):
            logger.debug("right to send", ("held", isUploader ? "yes" : "no"))
        }
    }
}
