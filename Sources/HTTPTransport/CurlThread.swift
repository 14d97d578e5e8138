internal import CCurl
internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// The thread that owns libcurl's multi handle. Everybody else leaves commands in its inbox and wakes it.
///
/// The inbox's lock is never held while a continuation is resumed: a task that is resumed and cancelled at the same moment would wait
/// for itself.
final class CurlThread: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        case cancel(UInt64)
        case stop
    }

    /// libcurl's handle may be woken from any thread (curl_multi_wakeup(3)); all else is the owner's.
    struct Multi: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }

    private enum Phase { case idle, running, stopping, ended }

    private struct State {
        var phase = Phase.idle
        var inbox: [Command] = []
        var multi: Multi?
        var thread: pthread_t?
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let ids = Atomic<UInt64>(0)
    /// Counts what was put into the inbox. The lock alone hands a transfer over from thread to thread; the thread sanitizer does not see
    /// a lock that was waited for, and does see this.
    private let handovers = Atomic<UInt64>(0)

    func nextID() -> UInt64 { ids.wrappingAdd(1, ordering: .relaxed).newValue }

    func submit(_ transfer: Transfer) {
        let refusal: HTTPError? = state.withLock { state in
            switch state.phase {
            case .stopping, .ended: return .closed
            case .running: break
            case .idle:
                if let error = launch(&state) { return error }
            }
            put(.start(transfer), &state)
            return nil
        }
        if let refusal { transfer.refuse(refusal) }
    }

    func cancel(_ id: UInt64) {
        state.withLock { if $0.phase == .running { put(.cancel(id), &$0) } }
    }

    func stop() {
        let orphan: pthread_t? = state.withLock { state in
            beginStop(&state)
            defer { state.thread = nil }
            return state.thread
        }
        if let orphan { pthread_detach(orphan) }
    }

    func close() async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                beginStop(&state)
                guard state.phase == .stopping else { return false }
                state.closers.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
        // The thread resumed us as its last act, so that this takes no time.
        let thread: pthread_t? = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    private func beginStop(_ state: inout State) {
        switch state.phase {
        case .idle: state.phase = .ended
        case .running:
            state.phase = .stopping
            put(.stop, &state)
        case .stopping, .ended: break
        }
    }

    private func put(_ command: Command, _ state: inout State) {
        state.inbox.append(command)
        handovers.add(1, ordering: .acquiringAndReleasing)
        if let multi = state.multi { curl_multi_wakeup(multi.pointer) }
    }

    private static let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private func launch(_ state: inout State) -> HTTPError? {
        let lacking = HTTPError(
            .noResources, "libcurl could not be started: this machine is out of memory, descriptors or threads", isRetryable: true)
        guard Self.isCurlReady, let pointer = curl_multi_init() else { return lacking }
        var thread = pthread_t()
        let multi = Multi(pointer: pointer)
        let retained = Unmanaged.passRetained(Start(owner: self, multi: multi))
        let error = pthread_create(
            &thread, nil,
            { @Sendable argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                start.owner.run(start.multi)
                return nil
            }, retained.toOpaque())
        guard error == 0 else {
            retained.release()
            curl_multi_cleanup(pointer)
            return lacking
        }
        state.phase = .running
        state.multi = multi
        state.thread = thread
        return nil
    }

    private final class Start: Sendable {
        let owner: CurlThread
        let multi: Multi

        init(owner: CurlThread, multi: Multi) {
            self.owner = owner
            self.multi = multi
        }
    }

    // MARK: On the thread

    private func run(_ multi: Multi) {
        clinux_name_thread("http")
        var loop = CurlLoop(multi: multi.pointer)
        var goesOn = true
        while goesOn {
            let commands = state.withLock { state in
                _ = handovers.load(ordering: .acquiring)
                defer { state.inbox.removeAll(keepingCapacity: true) }
                return state.inbox
            }
            for command in commands {
                switch command {
                case .start(let transfer): loop.start(transfer)
                case .cancel(let id): loop.cancel(id)
                case .stop: goesOn = false
                }
            }
            if goesOn { loop.turn() }
        }
        loop.failAll(.closed)
        // Nobody may wake the handle from here on.
        state.withLock { $0.multi = nil }
        curl_multi_cleanup(multi.pointer)
        let closers = state.withLock { state in
            state.phase = .ended
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }
}
