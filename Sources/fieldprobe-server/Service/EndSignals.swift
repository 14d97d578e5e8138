internal import CLinux
internal import Glibc
internal import MeasurementModel

/// The signals that ask the server to end, as octets in a pipe.
final class EndSignals {
    private let descriptor: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError(errno: errno, call: "pipe") }
        for end in ends {
            _ = clinux_set_cloexec(end, 1)
            _ = clinux_set_nonblocking(end, 1)
        }
        descriptor = ends[0]
        let error = clinux_relay_signals_to(ends[1], [SIGINT, SIGTERM, SIGHUP], 3)
        guard error == 0 else { throw SystemError(errno: -error, call: "sigaction") }
    }

    /// - Returns: whether one came within the time.
    func wait(_ duration: Duration) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return clinux_poll(&event, 1, duration.nanoseconds) > 0
    }
}
