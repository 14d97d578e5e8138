internal import CLinux
internal import Glibc
internal import MeasurementModel

/// One output stream of the command: read as it comes, passed on, and kept within a bound.
struct ChildStream {
    /// Which part is kept when not everything is.
    enum Keep { case beginning(Int), end(Int) }

    /// Our end of the pipe or pseudo terminal; -1 when it is closed.
    private(set) var source: Int32
    /// The command's end, until it is started.
    private(set) var childEnd: Int32
    let isTerminal: Bool
    private var sink: Int32?
    private var pending: ArraySlice<UInt8> = []
    private var keep: Keep
    private(set) var kept: [UInt8] = []
    private(set) var octets = 0
    /// Octets that may still be read once the command has ended.
    private var budget: Int?

    /// POLLOUT on a pipe promises room for so many octets (PIPE_BUF), so that a write of them does not block this thread.
    private static let chunk = 4096
    /// A terminal promises less.
    private static let terminalChunk = 1024

    init(sink: Int32?, keep: Keep) throws(SystemError) {
        self.sink = sink
        self.keep = keep
        isTerminal = sink.map { isatty($0) != 0 } ?? false
        var ends: [Int32] = [0, 0]
        if isTerminal {
            var slave: Int32 = -1
            let error = clinux_openpty_raw(&ends[0], &slave)
            ends[1] = slave
            guard error == 0 else { throw SystemError(errno: -error, call: "openpty") }
        } else {
            // Close-on-exec from the start: another command that is just being started would hold the pipe open.
            let error = clinux_pipe(&ends)
            guard error == 0 else { throw SystemError(errno: -error, call: "pipe2") }
        }
        source = ends[0]
        childEnd = ends[1]
        _ = clinux_set_nonblocking(source, 1)
        copyWindowSize()
    }

    mutating func closeChildEnd() {
        if childEnd >= 0 { close(childEnd) }
        childEnd = -1
    }

    mutating func closeSource() {
        if source >= 0 { close(source) }
        source = -1
    }

    func copyWindowSize() {
        if isTerminal, let sink { _ = clinux_copy_window_size(sink, source) }
    }

    /// Nothing is left to read or to pass on.
    var isDone: Bool { source < 0 && pending.isEmpty }

    /// Something was read that our own reader has not taken yet.
    var isPassingOn: Bool { !pending.isEmpty }

    /// What has to be waited for: nothing more is read while what was read is not passed on, so that a slow reader slows the command.
    var interest: pollfd? {
        if !pending.isEmpty, let sink { return pollfd(fd: sink, events: Int16(POLLOUT), revents: 0) }
        return source >= 0 ? pollfd(fd: source, events: Int16(POLLIN), revents: 0) : nil
    }

    /// Called when ``interest`` is ready.
    mutating func advance() {
        if pending.isEmpty { take() } else { pass() }
    }

    private mutating func take() {
        var buffer = [UInt8](repeating: 0, count: Self.chunk * 4)
        let count = read(source, &buffer, min(buffer.count, max(1, budget ?? .max)))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        // EIO is how a pseudo terminal says that nobody has it open any more.
        guard count > 0 else { return closeSource() }
        octets += count
        keep(buffer[..<count])
        if sink != nil { pending = buffer[..<count] }
        if let left = budget {
            budget = left - count
            if left <= count { closeSource() }
        }
    }

    private mutating func pass() {
        guard let target = sink else { return pending = [] }
        let chunk = pending.prefix(isTerminal ? Self.terminalChunk : Self.chunk)
        let count = chunk.withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
        if count >= 0 {
            pending = pending.dropFirst(count)
        } else if errno != EAGAIN, errno != EINTR {
            // Our reader has left. A command that wrote to a pipe itself would now get SIGPIPE: it does. A terminal that hung up sends
            // SIGHUP by itself.
            let isPipe = errno == EPIPE
            pending = []
            sink = nil
            if isPipe { closeSource() }
        }
    }

    private mutating func keep(_ octets: ArraySlice<UInt8>) {
        switch keep {
        case .beginning(let limit):
            kept += octets.prefix(max(0, limit - kept.count))
        case .end(let limit):
            kept += octets
            // Cut now and then instead of each time: the cut costs a copy.
            if kept.count > limit * 2 + Self.chunk { kept.removeFirst(kept.count - limit) }
        }
    }

    /// What is kept, cut to its bound.
    var result: [UInt8] {
        if case .end(let limit) = keep { Array(kept.suffix(limit)) } else { kept }
    }

    /// The command has ended. What it wrote is in the pipe by now, and no more than a pipe holds: what a grandchild adds later is not its.
    mutating func commandEnded() {
        let capacity = isTerminal ? 65536 : Int(max(4096, clinux_pipe_capacity(source)))
        budget = capacity
    }

    /// After the command's end: takes what it left, and lets go of a pipe that somebody else holds open. A pipe that is empty now stays
    /// empty of the command's output; a pseudo terminal hands over by and by, until its time `isOver`.
    mutating func settle(isOver: Bool) {
        while source >= 0, pending.isEmpty {
            let before = octets
            take()
            guard octets == before else { continue }
            if !isTerminal || isOver { closeSource() }
            return
        }
    }

    /// Gives up on what is not passed on yet.
    mutating func abandon() {
        pending = []
        closeSource()
    }
}
