internal import CSystemd
internal import Glibc
internal import MeasurementModel

/// What NetworkManager says of a device being metered, over D-Bus (org.freedesktop.NetworkManager.Device, property `Metered`).
///
/// Not running is a state; NetworkManager is never started by the question. Not thread-safe.
final class NetworkManagerMetering {
    enum Answer: Hashable {
        /// Told by the user or the network.
        case known(Bool)
        /// Guessed by NetworkManager, for example from a phone's DHCP answer.
        case guessed(Bool)
        /// It runs and has no opinion, or does not manage the device.
        case unknown
        /// It does not run.
        case absent
    }

    private static let service = "org.freedesktop.NetworkManager"
    private static let folder = "/org/freedesktop/NetworkManager"
    /// A daemon that hangs may cost the trace this long, once for each question.
    private static let timeout: UInt64 = 200_000

    private let address: String?
    private var bus: OpaquePointer?
    private var last: (interface: String, at: MonotonicInstant, answer: Answer)?

    /// - Parameter address: D-Bus address of the bus; nil is the system bus.
    init(address: String? = nil) { self.address = address }

    deinit { disconnect() }

    private func connect() -> Bool {
        if bus != nil { return true }
        let status = address.map { csystemd_open(&bus, $0) } ?? sd_bus_open_system(&bus)
        guard status >= 0, csystemd_wait_ready(bus, Self.timeout) > 0 else {
            disconnect()
            return false
        }
        sd_bus_set_method_call_timeout(bus, Self.timeout)
        return true
    }

    private func disconnect() {
        // Not flushed: that would wait for a bus that does not answer.
        sd_bus_close_unref(bus)
        bus = nil
    }

    /// The answer for an interface: asked again for another interface, or when the last one is older than `age`.
    func metered(_ interface: String, now: MonotonicInstant, maximumAge age: Duration) -> Answer {
        if let last, last.interface == interface, now - last.at < age { return last.answer }
        let answer = ask(interface)
        last = (interface, now, answer)
        return answer
    }

    private func ask(_ interface: String) -> Answer {
        guard connect() else { return .absent }
        var path: UnsafeMutablePointer<CChar>?
        let found = csystemd_call_for_path(bus, Self.service, Self.folder, Self.service, "GetDeviceByIpIface", interface, &path)
        guard found >= 0, let path else {
            // A dead connection is made anew at the next question.
            if sd_bus_is_open(bus) <= 0 { disconnect() }
            return found == -EHOSTUNREACH || found == -ENOTCONN || found == -ECONNRESET || found == -ENOENT ? .absent : .unknown
        }
        defer { free(path) }
        var value: UInt32 = 0
        guard csystemd_get_u32(bus, Self.service, path, "\(Self.service).Device", "Metered", &value) >= 0 else { return .unknown }
        return Self.answer(value)
    }

    /// `NMMetered` of NetworkManager's D-Bus interface.
    static func answer(_ value: UInt32) -> Answer {
        switch value {
        case 1: .known(true)
        case 2: .known(false)
        case 3: .guessed(true)
        case 4: .guessed(false)
        default: .unknown
        }
    }
}
