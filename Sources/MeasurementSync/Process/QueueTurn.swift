internal import CLinux
internal import Glibc
internal import MeasurementModel

/// One turn after the other of ``QueueLoop``'s thread.
struct QueueTurn {
    private let ground: SystemGround
    private var driver: QueueDriver<SystemGround>
    private let wake: Int32
    private let timer: Int32
    private var isStopping = false
    /// The files have to be opened again, once nothing is under way.
    private var isStale = true
    private var openAgain: MonotonicInstant?
    private var trouble: QueueError?

    init(ground: SystemGround, timing: UploadMachine.Timing, wake: Int32) {
        self.ground = ground
        self.wake = wake
        driver = QueueDriver(ground: ground, timing: timing)
        timer = clinux_boottime_timer()
    }

    var isSending: Bool { driver.machine.inFlight != nil }
    var isOver: Bool { isStopping && !isSending }

    mutating func take(_ commands: [QueueLoop.Command]) {
        if isStale, !isSending { open() }
        for command in commands {
            switch command {
            case .event(let event): driver.handle(event)
            case .uploader(let uploader):
                ground.uploader = uploader
                driver.handle(.configured)
            case .send(let id): send(id)
            case .stop:
                isStopping = true
                driver.handle(.stopped)
            }
        }
        if isStale, !isSending { open() }
    }

    /// Sleeps until there is something to do, and does what the kernel has told.
    mutating func wait() {
        guard !isOver else { return }
        let moment = [driver.wakeAt, openAgain].compactMap { $0 }.min()
        _ = clinux_boottime_timer_set(timer, moment?.nanoseconds ?? -1)
        var ready = [wake, timer].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if let watch = ground.watch { ready.append(pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)) }
        // Without a timer of the kernel's, a second is short enough.
        _ = clinux_poll(&ready, ready.count, timer < 0 ? 1_000_000_000 : -1)
        var count: UInt64 = 0
        _ = read(wake, &count, 8)
        if timer >= 0 { _ = read(timer, &count, 8) }
        if let watch = ground.watch { hear(watch.read()) }
        let now = MonotonicInstant.now()
        if let moment = openAgain, moment <= now { isStale = true }
        if let moment = driver.wakeAt, moment <= now { driver.wake() }
    }

    func close() {
        ground.releaseLine()
        ground.close()
        if timer >= 0 { Glibc.close(timer) }
    }

    private mutating func send(_ id: Int) {
        if let trouble { return ground.finish(id, .failure(trouble)) }
        // What is pending at the call counts, also what the watch has not told yet.
        driver.scan()
        driver.handle(.send(id))
    }

    private mutating func open() {
        isStale = false
        openAgain = nil
        ground.releaseLine()
        ground.close()
        driver.handle(.uploader(false))
        do throws(QueueError) {
            try ground.open()
            trouble = nil
            driver.scan()
            if driver.machine.isConfigured { driver.handle(.uploader(ground.tryUploader())) }
        } catch {
            ground.close()
            if trouble != error { ground.tell(.trouble(error)) }
            trouble = error
            openAgain = .now() + driver.machine.timing.retryInterval
        }
    }

    private mutating func hear(_ events: [FolderWatch.Event]) {
        var isChanged = false
        for event in events {
            switch event {
            // At once, and before anything that takes time.
            case .lineWanted: driver.handle(.lineWanted)
            case .lineMayBeFree: driver.handle(.lineMayBeFree)
            case .uploaderWanted: driver.handle(.uploaderWanted)
            case .uploaderMayBeFree: driver.handle(.uploaderMayBeFree)
            case .queue(let file):
                if let name = QueuedName(file: file), driver.isOwnRemoval(name) { continue }
                isChanged = true
            case .overflow:
                driver.handle(.lineWanted)
                isChanged = true
            case .replaced:
                driver.handle(.lineWanted)
                isStale = true
            }
        }
        if isStale, !isSending { return open() }
        if isChanged { driver.scan() }
    }
}
