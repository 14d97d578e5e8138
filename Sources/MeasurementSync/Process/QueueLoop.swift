internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// The thread that sends. It sleeps until the kernel, a timer or this process has something for it.
final class QueueLoop: Sendable {
    enum Command: Sendable {
        case event(UploadEvent)
        case uploader(any ReportUploader)
        case send(Int)
        case stop
    }

    private struct State {
        var inbox: [Command] = []
        var isRunning = false
        var isStopped = false
        var isSending = false
        var sends: [Int: @Sendable (SendResult) -> Void] = [:]
        var nextSend = 0
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let wake: Int32
    private let store: FolderStore
    private let counters: QueueCounters
    private let events: EventHub
    private let timing: UploadMachine.Timing

    init(store: FolderStore, counters: QueueCounters, events: EventHub, timing: UploadMachine.Timing) {
        self.store = store
        self.counters = counters
        self.events = events
        self.timing = timing
        wake = clinux_eventfd()
    }

    deinit { if wake >= 0 { Glibc.close(wake) } }

    var isSending: Bool { state.withLock { $0.isSending } }

    /// Commands before the thread runs are kept for it.
    func post(_ command: Command) {
        state.withLock { if !$0.isStopped { $0.inbox.append(command) } }
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
    }

    func start() throws(QueueError) {
        guard wake >= 0 else { throw .failed("eventfd", "the queue", -wake) }
        let (isFirst, isStopped) = state.withLock { state in
            defer { state.isRunning = state.isRunning || !state.isStopped }
            return (!state.isRunning, state.isStopped)
        }
        guard !isStopped else { throw .closed }
        guard isFirst else { return }
        do throws(QueueError) {
            try QueueThread.start("queue") { [self] in run() }
        } catch {
            state.withLock { $0.isRunning = false }
            throw error
        }
    }

    /// The handler is called once, on no particular thread.
    func send(_ handler: @escaping @Sendable (SendResult) -> Void) {
        let id: Int? = state.withLock { state in
            guard state.isRunning, !state.isStopped else { return nil }
            state.nextSend += 1
            state.sends[state.nextSend] = handler
            return state.nextSend
        }
        if let id { post(.send(id)) } else { handler(.failure(state.withLock { $0.isStopped } ? .closed : .noServer)) }
    }

    func stop() { post(.stop) }

    /// Returns when nothing of the thread's is left.
    func close() async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard state.isRunning, !state.isStopped else {
                    state.isStopped = true
                    return false
                }
                state.closers.append(continuation)
                return true
            }
            if waits { stop() } else { continuation.resume() }
        }
    }

    private func finish(_ id: Int, _ result: SendResult) {
        state.withLock { $0.sends.removeValue(forKey: id) }?(result)
    }

    // MARK: On the thread

    private func run() {
        let ground = SystemGround(
            store: store, counters: counters, events: events,
            ended: { [self] name, outcome in post(.event(.ended(name, outcome))) }, finished: { [self] in finish($0, $1) })
        var turn = QueueTurn(ground: ground, timing: timing, wake: wake)
        while !turn.isOver {
            turn.take(
                state.withLock { state in
                    defer { state.inbox = [] }
                    return state.inbox
                })
            let isSending = turn.isSending
            state.withLock { $0.isSending = isSending }
            turn.wait()
        }
        turn.close()
        end()
    }

    private func end() {
        let (sends, closers) = state.withLock { state in
            state.isStopped = true
            state.isSending = false
            state.inbox = []
            defer {
                state.sends = [:]
                state.closers = []
            }
            return (state.sends.values.map { $0 }, state.closers)
        }
        for handler in sends { handler(.failure(.closed)) }
        for closer in closers { closer.resume() }
    }
}
