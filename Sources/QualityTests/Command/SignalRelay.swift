internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Catches this process's signals, so that a wrapped command gets them and this process outlives it until the report is written. One per
/// process, made by its main program: signals belong to the process, not to a library.
///
/// SIGINT and SIGQUIT from a terminal reach the whole foreground group and are only noted here; what a process sends with kill(2) reached
/// only this process and is passed on. SIGTSTP and its relatives are left alone: the terminal stops the whole group, and `fg` wakes it.
public final class SignalRelay: Sendable {
    /// A signal that came.
    struct Arrival {
        let number: Int32
        /// Sent by a process, not by the terminal or the kernel.
        let wasSent: Bool
    }

    private static let relayed: [Int32] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH]

    let descriptor: Int32
    /// What a command gets back at its default: the handlers go by themselves in exec(2), what this process ignores does not.
    let changed: [Int32]

    /// Installs the handlers, but for signals that were ignored when the process began: nohup(1) means it.
    ///
    /// - Parameter wasPipeIgnored: SIGPIPE was ignored before this process ignored it for itself.
    public init(wasPipeIgnored: Bool) throws {
        var ends: [Int32] = [0, 0]
        let made = clinux_pipe(&ends)
        guard made == 0 else { throw SystemError(errno: -made, call: "pipe2") }
        for end in ends { _ = clinux_set_nonblocking(end, 1) }
        descriptor = ends[0]
        changed = wasPipeIgnored ? [] : [SIGPIPE]
        let wanted = Self.relayed.filter { clinux_is_ignored($0) == 0 }
        let error = clinux_relay_signals_to(ends[1], wanted, wanted.count)
        guard error == 0 else { throw SystemError(errno: -error, call: "sigaction") }
    }

    /// What has come since the last call.
    func arrivals() -> [Arrival] {
        var octets = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &octets, octets.count)
        guard count > 0 else { return [] }
        return octets[..<count].map { Arrival(number: Int32($0 & 0x7F), wasSent: $0 & 0x80 != 0) }
    }
}
