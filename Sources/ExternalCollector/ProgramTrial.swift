internal import CLinux
package import CollectorCore
internal import Glibc
package import MeasurementModel

/// A collector's process without a host around it: for the conformance kit, which says to it what no host would say. Blocks its caller, and
/// belongs to one thread.
package struct ProgramTrial: ~Copyable {
    /// What came in a time.
    package enum Answer {
        case message(JSONObject)
        /// A line that is no JSON object, or too long.
        case rubbish
        case ended
        case nothing
    }

    private var process: CollectorProcess
    private var lines: LineBuffer
    private var inbox: [LineBuffer.Line] = []
    /// The end of what it wrote to standard error.
    package private(set) var complaints: [UInt8] = []

    /// - Throws: ``CollectorFailure`` when it cannot be started.
    package init(_ collector: ProgramCollector) throws {
        process = try CollectorProcess(try LaunchCommand(collector.source, settings: collector.settings), keepsErrors: true)
        lines = LineBuffer(maximum: collector.settings.limits.line)
    }

    package private(set) var endedAt: MonotonicInstant?

    /// How it ended, in words; nil while it runs.
    package var ending: String? { process.ending.map(Fate.text) }
    package var hasSucceeded: Bool { process.ending == .exited(0) }

    /// Says anything, be it no message.
    package mutating func say(_ text: String) { process.tell(Array(text.utf8)) }

    package mutating func greet(version: Int64) {
        say(JSONValue.object(["message": .string("hello"), "protocol": .integer(version)]).text() + "\n")
    }

    package mutating func start(_ collector: ProgramCollector, _ kind: TestKind) {
        process.tell(
            .start(
                HostMessage.Start(
                    kind: kind, target: SessionTarget().value, permissions: .none, startedAt: .now(),
                    configuration: collector.settings.configuration)))
    }

    package mutating func stop() { process.tell(.stop) }
    package mutating func closeInput() { process.closeInput() }
    package func signal(_ number: Int32) { kill(process.pid, number) }

    /// A smaller pipe for what it says, so that it is soon full: fcntl(F_SETPIPE_SZ).
    package func narrow() { clinux_narrow_pipe(process.output) }

    /// Octets that it has said and that were not read.
    package var waiting: Int { Int(clinux_pipe_content(process.output)) }

    /// The next thing that it says, within the time.
    package mutating func next(within limit: Duration) -> Answer {
        let end = MonotonicInstant.now() + limit
        while true {
            if !inbox.isEmpty {
                guard case .whole(let octets) = inbox.removeFirst(), let json = try? JSONValue(parsing: octets), let object = json.object
                else { return .rubbish }
                return .message(object)
            }
            if process.ending != nil { return .ended }
            let left = end - .now()
            guard left > .zero else { return .nothing }
            look(left)
        }
    }

    /// Whether it ends within the time, whatever it says until then.
    ///
    /// - Parameter reads: false leaves what it says in the pipe.
    package mutating func ends(within limit: Duration, reads: Bool = true) -> Bool {
        let end = MonotonicInstant.now() + limit
        while process.ending == nil {
            let left = end - .now()
            guard left > .zero else { return false }
            look(left, reads: reads)
            inbox = []
        }
        return true
    }

    private mutating func look(_ left: Duration, reads: Bool = true) {
        var events = [process.pidfd, process.errors, reads ? process.output : -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = clinux_poll(&events, events.count, left.nanoseconds)
        if events[1].revents != 0 { takeErrors() }
        if events[2].revents != 0 {
            if let octets = process.read(process.output, atMost: Talk.chunk) {
                inbox += lines.append(octets)
            } else {
                process.closeOutput()
            }
        }
        if events[0].revents != 0 {
            while reads, let octets = process.read(process.output, atMost: Talk.chunk), !octets.isEmpty { inbox += lines.append(octets) }
            if process.errors >= 0 { takeErrors() }
            endedAt = .now()
            // What ends with it may take a moment.
            usleep(50_000)
            leftBehind = ProcessGroup.members(process.pid).filter { $0.pid != process.pid }.map(\.name)
            process.reap()
        }
    }

    private mutating func takeErrors() {
        guard let octets = process.read(process.errors, atMost: Talk.chunk) else { return process.closeErrors() }
        complaints += octets
        if complaints.count > 8192 { complaints.removeFirst(complaints.count - 4096) }
    }

    /// Why it could not be started, where that is so.
    package func startFailure(_ collector: ProgramCollector) throws -> CollectorFailure? {
        try process.launchFault().map {
            try LaunchCommand(collector.source, settings: collector.settings).failure(stage: $0.stage, errno: $0.errno)
        }
    }

    /// Other processes of its group that were there when it had ended, by their names.
    package private(set) var leftBehind: [String] = []
}
