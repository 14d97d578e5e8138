internal import CLinux
internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// A foreign collector's process, its group and the pipes to it. It belongs to one thread, and nothing of it is left when it goes.
struct CollectorProcess: ~Copyable {
    enum Ending: Equatable {
        case exited(Int32)
        case signaled(Int32)
        /// Somebody else in this process has waited for it: waitpid(-1), or SIGCHLD is ignored.
        case unknown
    }

    let pid: Int32
    /// Readable once the process has ended: pidfd_open(2).
    let pidfd: Int32
    /// What it prints; -1 once closed.
    private(set) var output: Int32
    /// What it complains; -1 when nobody wants to know.
    private(set) var errors: Int32
    private var input: Int32
    /// It was not told all that it should have been, because its input was full.
    private(set) var isDeaf = false
    /// Where the launcher tells what it could not do.
    private var status: Int32
    private(set) var ending: Ending?

    /// - Parameter keepsErrors: whether standard error is read by us; otherwise it is thrown away.
    init(_ command: LaunchCommand, keepsErrors: Bool) throws(CollectorFailure) {
        var toChild = try Pipe()
        var fromChild = try Pipe()
        var complaints = keepsErrors ? try Pipe() : nil
        var launch = try Pipe()
        var child: pid_t = 0
        let error = withCStrings(command.arguments) { arguments in
            withCStrings(command.environment) { environment in
                clinux_spawn_collector(
                    &child, arguments, environment, toChild.readEnd, fromChild.writeEnd, complaints?.writeEnd ?? -1, launch.writeEnd)
            }
        }
        guard error == 0 else { throw command.cannotStartHost(errno: -error) }
        let descriptor = clinux_pidfd_open(child)
        guard descriptor >= 0 else {
            kill(-child, SIGKILL)
            _ = clinux_waitpid(child, nil, 0)
            throw CollectorFailure("no_resources", "\(SystemError(errno: -descriptor, call: "pidfd_open"))")
        }
        pid = child
        pidfd = descriptor
        input = toChild.takeWriteEnd()
        output = fromChild.takeReadEnd()
        errors = complaints?.takeReadEnd() ?? -1
        status = launch.takeReadEnd()
        for end in [input, output, errors, status] where end >= 0 { _ = clinux_set_nonblocking(end, 1) }
    }

    deinit {
        if ending == nil {
            signalGroup(SIGKILL)
            var event = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
            // It ends at once, unless the kernel holds it in an uninterruptible wait: then a thread waits in our place.
            if clinux_poll(&event, 1, 100_000_000) == 1 { _ = clinux_waitpid(pid, nil, 0) } else { Reaper.adopt(pid) }
        }
        for end in [input, output, errors, status, pidfd] where end >= 0 { close(end) }
    }

    /// Says something to the program. One that does not read has full pipes in the end: then it is not told.
    mutating func tell(_ message: HostMessage) { tell(Array(message.line.utf8)) }

    mutating func tell(_ octets: [UInt8]) {
        guard input >= 0 else { return }
        let written = clinux_write_quietly(input, octets, octets.count)
        if written == octets.count { return }
        // Part of a line: nothing that comes later could be understood. One that has closed its input has chosen so.
        if written >= 0 || written == -Int(EAGAIN) { isDeaf = true }
        closeInput()
    }

    mutating func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    mutating func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    mutating func closeErrors() {
        if errors >= 0 { close(errors) }
        errors = -1
    }

    /// What it has printed, up to so many octets; nil at the end, empty when there is nothing now.
    func read(_ descriptor: Int32, atMost limit: Int) -> [UInt8]? {
        guard descriptor >= 0 else { return nil }
        var error: Int32 = 0
        let octets = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = Glibc.read(descriptor, buffer.baseAddress!, limit)
            if result < 0 { error = errno }
            count = max(0, result)
        }
        if error == EAGAIN || error == EINTR { return [] }
        return octets.isEmpty ? nil : octets
    }

    func signalGroup(_ number: Int32) {
        // Somebody else may have waited for it, and its number may be another's by now.
        guard ending == nil, clinux_is_own_child(pid) == 1 else { return }
        kill(-pid, number)
    }

    /// After ``pidfd`` became readable: ends what the program left in its group, and takes its status.
    mutating func reap() {
        guard ending == nil else { return }
        // Before the wait: until then nobody else can get the group's number.
        signalGroup(SIGKILL)
        var value: Int32 = 0
        guard clinux_waitpid(pid, &value, 0) == pid else {
            ending = .unknown
            return
        }
        ending = clinux_exited(value) != 0 ? .exited(clinux_exit_status(value)) : .signaled(clinux_term_signal(value))
    }

    /// Gives up on a process that not even SIGKILL ends, because the kernel waits for a device.
    mutating func abandon() {
        guard ending == nil else { return }
        Reaper.adopt(pid)
        ending = .signaled(SIGKILL)
    }

    /// What the launcher could not do; nil when the program was started.
    func launchFault() -> (stage: String, errno: Int32)? {
        guard let octets = read(status, atMost: 100), !octets.isEmpty else { return nil }
        let words = String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let error = Int32(words[1]) else { return nil }
        return (String(words[0]), error)
    }

    /// Processor time of the program and of what it has started, in seconds.
    var processorTime: Double { ending == nil ? ProcessGroup.processorTime(of: pid) : 0 }
}

/// pipe2(2) whose ends close by themselves unless they are taken.
private struct Pipe: ~Copyable {
    private(set) var readEnd: Int32
    private(set) var writeEnd: Int32

    init() throws(CollectorFailure) {
        var ends: [Int32] = [-1, -1]
        let error = clinux_pipe(&ends)
        guard error == 0 else { throw CollectorFailure("no_resources", "\(SystemError(errno: -error, call: "pipe2"))") }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit { for end in [readEnd, writeEnd] where end >= 0 { close(end) } }

    mutating func takeReadEnd() -> Int32 {
        defer { readEnd = -1 }
        return readEnd
    }

    mutating func takeWriteEnd() -> Int32 {
        defer { writeEnd = -1 }
        return writeEnd
    }
}
