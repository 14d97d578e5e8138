internal import CLinux
internal import Glibc
internal import MeasurementModel

/// One loop over everything that can happen to a running command: its end, its output, our signals, and a cancelled test. It blocks the
/// thread that it is given.
struct CommandRelay {
    private let settings: CommandMeasurement.Settings
    private let stop: StopLine
    private let program: String
    private let pid: Int32
    private let pidfd: Int32
    private let startedAt: MonotonicInstant
    private var output: ChildStream
    private var errors: ChildStream
    private var ended: (status: Int32, at: MonotonicInstant)?
    private var wasInterrupted = false
    private var killAt: MonotonicInstant?
    private var isStopping = false
    /// Signals that reached the command through us or beside us.
    private var relayed: Set<Int32> = []

    /// How long after the command's end a pseudo terminal may take to hand over what the command wrote: the kernel does it by and by.
    private static let terminalGrace: Duration = .milliseconds(200)
    private static let signalGrace: Duration = .milliseconds(50)

    static func run(_ command: CommandMeasurement, stop: StopLine) throws -> CommandResult {
        var relay = try CommandRelay(command, stop: stop)
        defer { relay.closeAll() }
        while !relay.isDone { relay.turn() }
        relay.awaitLateSignal()
        return relay.result
    }

    private init(_ command: CommandMeasurement, stop: StopLine) throws {
        let (arguments, settings) = (command.arguments, command.settings)
        self.settings = settings
        self.stop = stop
        program = command.program
        output = try ChildStream(sink: settings.standardOutput, keep: .beginning(settings.maximumOutput))
        do { errors = try ChildStream(sink: settings.standardError, keep: .end(settings.maximumErrorTail)) } catch {
            output.closeChildEnd()
            output.closeSource()
            throw error
        }
        let reset = settings.signals?.changed ?? []
        // What came before there was a command cannot have reached it, from wherever it came.
        let early = settings.signals?.arrivals() ?? []
        var child: pid_t = 0
        startedAt = .now()
        let (out, err) = (output.childEnd, errors.childEnd)
        let kept = settings.descriptors?.sorted()
        let error = withCStrings(arguments) {
            clinux_spawn_command(&child, $0, -1, out, err, reset, reset.count, kept ?? [], Int32(kept?.count ?? -1))
        }
        output.closeChildEnd()
        errors.closeChildEnd()
        pid = child
        pidfd = error == 0 ? clinux_pidfd_open(child) : -1
        if error != 0 {
            closeAll()
            throw CommandError(program: arguments[0], errno: -error)
        }
        if pidfd < 0 {
            // Without it the end could not be seen; this kernel is older than 5.3, or descriptors are short.
            kill(child, SIGKILL)
            _ = clinux_waitpid(child, nil, 0)
            let failure = -pidfd
            closeAll()
            throw CommandError(.notRunnable, program: arguments[0], errno: failure)
        }
        for signal in early where signal.number != SIGWINCH { arrived(SignalRelay.Arrival(number: signal.number, wasSent: true)) }
    }

    private mutating func closeAll() {
        output.closeSource()
        errors.closeSource()
        if pidfd >= 0 { close(pidfd) }
    }

    private var isDone: Bool { ended != nil && output.isDone && errors.isDone }

    private mutating func turn() {
        var polls: [pollfd] = []
        func add(_ descriptor: Int32) -> Int {
            polls.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            return polls.count - 1
        }
        let end = ended == nil ? add(pidfd) : nil
        let cancel = isStopping ? nil : add(stop.descriptor)
        let signals = settings.signals.map { add($0.descriptor) }
        func add(_ interest: pollfd?) -> Int? {
            guard let interest else { return nil }
            polls.append(interest)
            return polls.count - 1
        }
        let out = add(output.interest)
        let err = add(errors.interest)
        _ = clinux_poll(&polls, polls.count, waitLimit)
        func isReady(_ index: Int?) -> Bool { index.map { polls[$0].revents != 0 } ?? false }

        if isReady(signals), let relay = settings.signals { relay.arrivals().forEach { arrived($0) } }
        if isReady(cancel) { cancelled() }
        if isReady(out) { output.advance() }
        if isReady(err) { errors.advance() }
        // Output first: what came before the end is taken before it.
        if isReady(end) { commandEnded() }
        if let at = killAt, ended == nil, MonotonicInstant.now() >= at {
            kill(pid, SIGKILL)
            killAt = nil
        }
        if let ended {
            let isOver = MonotonicInstant.now() >= ended.at + Self.terminalGrace
            output.settle(isOver: isOver)
            errors.settle(isOver: isOver)
        }
    }

    /// Nanoseconds; -1 waits without limit.
    private var waitLimit: Int64 {
        if let ended {
            // What waits for our own reader waits for as long as it takes, as in every pipeline.
            return isPassingOn ? -1 : max(0, (ended.at + Self.terminalGrace - .now()).nanoseconds)
        }
        return killAt.map { max(0, ($0 - .now()).nanoseconds) } ?? -1
    }

    private var isPassingOn: Bool { output.isPassingOn || errors.isPassingOn }

    private mutating func arrived(_ signal: SignalRelay.Arrival) {
        if signal.number == SIGWINCH {
            output.copyWindowSize()
            errors.copyWindowSize()
            // The terminal told the command before its own terminal had the new size.
            if ended == nil, output.isTerminal || errors.isTerminal { kill(pid, SIGWINCH) }
            return
        }
        if ended != nil {
            // Only our own reader is waited for: whoever wants us to end now gets that.
            output.abandon()
            errors.abandon()
            return
        }
        if signal.wasSent { kill(pid, signal.number) }
        relayed.insert(signal.number)
    }

    private mutating func cancelled() {
        isStopping = true
        wasInterrupted = true
        guard ended == nil else { return }
        kill(pid, SIGTERM)
        killAt = .now() + settings.stopDeadline
    }

    private mutating func commandEnded() {
        var status: Int32 = 0
        guard clinux_waitpid(pid, &status, Int32(WNOHANG)) != 0 else { return }
        ended = (status, .now())
        output.commandEnded()
        errors.commandEnded()
    }

    /// The terminal tells the command and this process of Ctrl-C at the same moment, but a quick command may be seen to end before this
    /// process got to its own signal: then a command that was told to end would look like one that failed.
    private mutating func awaitLateSignal() {
        guard let relay = settings.signals, let ended, relayed.isEmpty, !wasInterrupted else { return }
        let hasSucceeded = clinux_exited(ended.status) != 0 && clinux_exit_status(ended.status) == 0
        guard !hasSucceeded, (0...2).contains(where: { isatty($0) != 0 }) else { return }
        var event = pollfd(fd: relay.descriptor, events: Int16(POLLIN), revents: 0)
        _ = clinux_poll(&event, 1, Self.signalGrace.nanoseconds)
        for signal in relay.arrivals() { relayed.insert(signal.number) }
    }

    private var result: CommandResult {
        let status = ended?.status ?? 0
        let ending: CommandResult.Ending =
            clinux_exited(status) != 0 ? .exited(clinux_exit_status(status)) : .signaled(clinux_term_signal(status))
        return CommandResult(
            program: program, ending: ending, duration: (ended?.at ?? .now()) - startedAt, output: output.result,
            outputOctets: output.octets, errorTail: errors.result, errorOctets: errors.octets,
            wasInterrupted: wasInterrupted || wasTold(ending))
    }

    /// Whether it ended because somebody wanted it to: by a signal that came here too, by the status that shells give to that, or by its
    /// own way to heed SIGINT or SIGTERM.
    private func wasTold(_ ending: CommandResult.Ending) -> Bool {
        if relayed.contains(SIGINT) || relayed.contains(SIGTERM) { return true }
        switch ending {
        case .signaled(let number): return relayed.contains(number)
        case .exited(let status): return relayed.contains(status - 128)
        }
    }
}
