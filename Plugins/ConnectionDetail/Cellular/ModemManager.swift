internal import CSystemd
internal import Glibc
internal import MeasurementModel

/// ModemManager over D-Bus: its modems, and a wake-up when something about them changes.
///
/// Not running, restarted, a modem that comes or goes: states. It is never started by a question, nothing is ever set, and a call that
/// hangs costs the trace a fraction of a second once for each poll. Not thread-safe.
final class ModemManager {
    private static let service = "org.freedesktop.ModemManager1"
    private static let timeout: UInt64 = 300_000

    private let address: String?
    private var bus: OpaquePointer?
    /// Written by the callback of the match, which runs inside ``drain()``.
    private let changes = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    private var modems: [Modem] = []
    private var askedAt: MonotonicInstant?
    private var isStale = true
    private(set) var isRunning = false

    /// - Parameter address: D-Bus address of the bus; nil is the system bus.
    init(address: String? = nil) {
        self.address = address
        changes.initialize(to: 0)
    }

    deinit {
        disconnect()
        changes.deallocate()
    }

    /// For poll(2); nil without a bus.
    var descriptor: Int32? { bus.map { sd_bus_get_fd($0) } }

    /// Reads what has come, and tells whether the modems have to be asked for again.
    func drain() -> Bool {
        guard let bus else { return false }
        var status: Int32 = 0
        repeat { status = sd_bus_process(bus, nil) } while status > 0
        if status < 0 {
            disconnect()
            return true
        }
        guard changes.pointee > 0 else { return false }
        changes.pointee = 0
        isStale = true
        return true
    }

    /// The modems: asked for again after a change, and when the last answer is older than `age`.
    ///
    /// - Parameter withCells: whether the serving cells may be asked for, which locate.
    func current(now: MonotonicInstant, maximumAge age: Duration, withCells: Bool) -> [Modem] {
        if !isStale, let askedAt, now - askedAt < age { return modems }
        askedAt = now
        modems = connect() ? ask(withCells: withCells) : []
        // A bus that is not there, or a daemon that hangs, is tried again at the next poll and not at each event.
        isStale = false
        return modems
    }

    private func connect() -> Bool {
        if bus != nil { return true }
        let status = address.map { csystemd_open(&bus, $0) } ?? sd_bus_open_system(&bus)
        guard status >= 0, csystemd_wait_ready(bus, Self.timeout) > 0 else {
            disconnect()
            return false
        }
        sd_bus_set_method_call_timeout(bus, Self.timeout)
        let rules = [
            "type='signal',sender='\(Self.service)'",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'",
        ]
        // Subscribed before the first question.
        for rule in rules where csystemd_count_matches(bus, rule, changes) < 0 {
            disconnect()
            return false
        }
        return true
    }

    private func disconnect() {
        // Not flushed: that would wait for a bus that does not answer.
        sd_bus_close_unref(bus)
        bus = nil
        isRunning = false
        isStale = true
        modems = []
    }

    private func ask(withCells: Bool) -> [Modem] {
        let objects = call("/org/freedesktop/ModemManager1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        guard case .dictionary(let entries)? = objects else {
            isRunning = false
            if let bus, sd_bus_is_open(bus) <= 0 { disconnect() }
            return []
        }
        isRunning = true
        let paths = entries.keys.compactMap(\.text).sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count }
        return paths.compactMap { path in
            guard let object = entries[.text(path)], var modem = Modem(object) else { return nil }
            for bearer in Modem.bearerPaths(object) {
                let properties = call(bearer, "org.freedesktop.DBus.Properties", "GetAll", "\(Self.service).Bearer")
                if properties?["Connected"]?.bool == true, let name = properties?["Interface"]?.text { modem.interfaces.insert(name) }
            }
            if withCells, modem.isRegistered { askForCell(of: path, &modem) }
            return modem
        }
    }

    private func askForCell(of path: String, _ modem: inout Modem) {
        // The property is empty unless somebody has asked for its signals; the method answers from what the daemon knows.
        if let location = call(path, "\(Self.service).Modem.Location", "GetLocation") { modem.takeLocation(location) }
        if let cells = call(path, "\(Self.service).Modem", "GetCellInfo") { modem.takeCells(cells) }
    }

    private func call(_ object: String, _ interface: String, _ method: String, _ text: String? = nil) -> BusValue? {
        var reply: OpaquePointer?
        guard csystemd_call(bus, Self.service, object, interface, method, text, &reply) >= 0 else { return nil }
        defer { sd_bus_message_unref(reply) }
        return BusValue(next: reply)
    }
}
