internal import CSystemd
internal import Glibc
internal import MeasurementModel

/// What systemd is told (sd_notify(3)); nothing without it.
final class ServiceManager {
    private var watchdogInterval: Duration?
    private var lastPing = MonotonicInstant.now()

    init() {
        var microseconds: UInt64 = 0
        if sd_watchdog_enabled(0, &microseconds) > 0 { watchdogInterval = .microseconds(Int64(microseconds / 3)) }
    }

    func ready(_ status: String) { sd_notify(0, "READY=1\nSTATUS=\(status)") }
    func stopping() { sd_notify(0, "STOPPING=1\nSTATUS=Answering what has been asked") }

    /// Called once a second from the loop that would stand still if the server did.
    func ping() {
        guard let watchdogInterval, MonotonicInstant.now() - lastPing >= watchdogInterval else { return }
        lastPing = .now()
        sd_notify(0, "WATCHDOG=1")
    }
}
