internal import CLinux
internal import CollectorCore
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// The conversation with one collector's process beside one test. All of its calls are made on the collector's thread, one after the other;
/// the lock only tells the compiler so.
final class Conversation: Sendable {
    private let talk: Mutex<Talk>

    init(_ collector: ProgramCollector, _ session: CollectionSession) throws(CollectorFailure) {
        talk = Mutex(try Talk(collector, session))
    }

    func handshake() throws -> CollectorDescriptor { try talk.withLock { talk throws in try talk.handshake() } }

    func collect(into trace: some TraceWriter, fields: [FieldDeclaration]) throws {
        try talk.withLock { talk throws in try talk.collect(into: trace, ValueDecoder(fields)) }
    }

    /// Ends a program that was not asked to collect.
    func close() { talk.withLock { $0.close() } }
}

/// Reading and waiting: what the conversation consists of. What is said is in the extensions.
struct Talk: ~Copyable {
    /// A line, and when it was read if that is not now.
    struct Arrival {
        let line: LineBuffer.Line
        var readAt: MonotonicInstant?
    }

    /// Octets that are read at once.
    static let chunk = 16 << 10

    let collector: ProgramCollector
    let session: CollectionSession
    let command: LaunchCommand
    var process: CollectorProcess
    var lines: LineBuffer
    var flood: FloodGuard
    /// Lines that have come and were not looked at yet.
    private var inbox: [Arrival] = []
    /// When the test ended, by its signal to this collector.
    private(set) var testOverAt: MonotonicInstant?
    var hasNewTarget = false
    private(set) var isOutputOver = false
    /// How its end was brought about so far.
    var stopSteps: Set<Fate.Step> = []
    private let startedAt: MonotonicInstant
    private var processorTimeAt: MonotonicInstant
    /// It was ended because it computed too much.
    private(set) var isTooBusy = false
    /// In a flood: the last whole line that was thrown away, when, and in which of the harvests.
    private var lastThrown: (line: [UInt8], at: MonotonicInstant, harvest: Int)?
    private var harvest = 0

    init(_ collector: ProgramCollector, _ session: CollectionSession) throws(CollectorFailure) {
        let command = try LaunchCommand(collector.source, settings: collector.settings)
        let process = try CollectorProcess(command, keepsErrors: collector.observer != nil)
        self.collector = collector
        self.session = session
        self.command = command
        startedAt = .now()
        lines = LineBuffer(maximum: collector.settings.limits.line)
        flood = FloodGuard(limits: collector.settings.limits, now: startedAt)
        processorTimeAt = startedAt + Self.processorTimeStep(collector.settings.limits)
        self.process = process
    }

    var hasEnded: Bool { process.ending != nil }

    // MARK: Waiting

    /// Waits until something happens, or the instant comes, and takes what there is.
    ///
    /// - Parameter trace: where a flood is told; nil before there is one.
    mutating func wait(until limit: MonotonicInstant?, _ trace: (any TraceWriter)?) {
        let now = MonotonicInstant.now()
        lookAtProcessorTime(now)
        // Also when nothing came: that is how a flood ends.
        if let resumesAt = flood.resumesAt, resumesAt <= now { discard(trace) }
        var descriptors = [process.pidfd]
        if !isOutputOver, !flood.isFlood { descriptors.append(process.output) }
        if process.errors >= 0 { descriptors.append(process.errors) }
        let until = [limit, flood.resumesAt, processorTimeAt].compactMap(\.self).min()!
        let ready = sleep(descriptors, until: until)
        if process.errors >= 0, ready.contains(process.errors) { takeErrors() }
        if !isOutputOver, ready.contains(process.output) { takeOutput(trace) }
        if ready.contains(process.pidfd) { takeEnd(trace) }
    }

    private mutating func sleep(_ descriptors: [Int32], until: MonotonicInstant) -> Set<Int32> {
        let left = max(.zero, until - .now())
        if testOverAt == nil {
            // The session's clock may be a test's own; this process and its deadlines live by the real one.
            let wake = session.wait(readable: descriptors, until: session.clock.now() + left)
            if wake.isCancelled { testOverAt = .now() } else if wake.hasAttention { hasNewTarget = true }
            return wake.ready
        }
        var events = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = clinux_poll(&events, events.count, max(.zero, until - .now()).nanoseconds)
        return Set(events.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    // MARK: What the process writes

    private mutating func takeOutput(_ trace: (any TraceWriter)?) {
        guard let octets = process.read(process.output, atMost: Self.chunk) else { return outputEnds() }
        take(octets, trace)
    }

    private mutating func take(_ octets: [UInt8], _ trace: (any TraceWriter)?) {
        guard !octets.isEmpty else { return }
        let found = lines.append(octets)
        if flood.isFlood { return throwAway(found, trace) }
        let admitted = flood.admits(lines: found.count, octets: octets.count, at: .now())
        // Before the start nobody listens yet, and a chunk is all that is read.
        guard !admitted, let trace else { return inbox += found.map { Arrival(line: $0) } }
        beginFlood(trace)
        throwAway(found, trace)
    }

    private mutating func beginFlood(_ trace: any TraceWriter) {
        trace.gap(.began(.flood))
        lastThrown = nil
    }

    /// One that began before the start is told once there is somebody to tell. What it has said until then has no place.
    mutating func floodGoesOn(_ trace: any TraceWriter) {
        guard flood.isFlood else { return }
        beginFlood(trace)
        lines.leaveOutCurrent()
    }

    /// In a flood: a pipe's content is thrown away, and then comes a pause.
    private mutating func discard(_ trace: (any TraceWriter)?) {
        var count = 0
        var octets = 0
        harvest += 1
        while octets < 1 << 16 {
            guard let part = process.read(process.output, atMost: Self.chunk) else {
                outputEnds()
                break
            }
            if part.isEmpty { break }
            let found = lines.append(part)
            octets += part.count
            count += found.count
            throwAway(found, trace)
        }
        flood.discarded(lines: count, octets: octets, at: .now())
        if !flood.isFlood, let trace { floodEnds(trace) }
    }

    /// Counts the lines of a flood, and keeps the last one of them if it is whole.
    private mutating func throwAway(_ found: [LineBuffer.Line], _ trace: (any TraceWriter)?) {
        guard let newest = found.last else { return }
        let held = lastThrown == nil ? 0 : 1
        lastThrown = if case .whole(let line) = newest { (line, .now(), harvest) } else { nil }
        // The one that is held back counts when another one takes its place.
        let lost = found.count + held - (lastThrown == nil ? 0 : 1)
        if lost > 0 { trace?.rejected(StateReason.flood.word, count: lost) }
    }

    /// A program that only speaks when something changes would leave its last value but one behind: so the last line of all counts, with the
    /// time at which it was read. Not one from before the last two harvests: since then it has written something that has no end yet.
    private mutating func floodEnds(_ trace: any TraceWriter) {
        trace.gap(.ended(.flood))
        guard let kept = lastThrown else { return }
        lastThrown = nil
        guard harvest - kept.harvest <= 1 else { return trace.rejected(StateReason.flood.word, count: 1) }
        inbox.append(Arrival(line: .whole(kept.line), readAt: kept.at))
    }

    private mutating func takeErrors() {
        guard let octets = process.read(process.errors, atMost: Self.chunk) else { return process.closeErrors() }
        collector.observer?.hear(.complained(octets))
    }

    private mutating func outputEnds() {
        isOutputOver = true
        process.closeOutput()
    }

    /// The process is over. What it wrote is in the pipe by now, and no more than a pipe holds: what others add later is not its.
    private mutating func takeEnd(_ trace: (any TraceWriter)?) {
        process.reap()
        harvest += 1
        var budget = isOutputOver ? 0 : Int(max(Int32(Self.chunk), clinux_pipe_capacity(process.output)))
        while budget > 0, let octets = process.read(process.output, atMost: Self.chunk), !octets.isEmpty {
            budget -= octets.count
            take(octets, trace)
        }
        // Its last line counts too.
        if flood.isFlood, let trace { floodEnds(trace) }
        outputEnds()
        if process.errors >= 0 { takeErrors() }
    }

    /// After the output's end, that of the process is usually near, and tells more.
    mutating func awaitEnd(_ trace: (any TraceWriter)?) {
        let limit = MonotonicInstant.now() + .milliseconds(500)
        while isOutputOver, !hasEnded, testOverAt == nil, MonotonicInstant.now() < limit { wait(until: limit, trace) }
    }

    /// The next line that came, if one has come.
    mutating func nextLine() -> Arrival? { inbox.isEmpty ? nil : inbox.removeFirst() }

    mutating func giveUp() {
        process.abandon()
        outputEnds()
    }

    // MARK: Processor time

    /// How often the account is looked at. The program's own limit (RLIMIT_CPU) is no use: it can be ignored, and each of the processes that
    /// the program starts has one of its own.
    private static func processorTimeStep(_ limits: CollectorLimits) -> Duration {
        .seconds(min(10, max(1, limits.processorBurst)))
    }

    private mutating func lookAtProcessorTime(_ now: MonotonicInstant) {
        guard now >= processorTimeAt, !hasEnded else { return }
        let limits = collector.settings.limits
        processorTimeAt = now + Self.processorTimeStep(limits)
        let allowed = limits.processorBurst + limits.processorShare * (now - startedAt).inSeconds
        guard process.processorTime > allowed else { return }
        isTooBusy = true
        process.signalGroup(SIGKILL)
    }
}
