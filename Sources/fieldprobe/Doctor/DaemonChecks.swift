internal import CLinux
internal import CSystemd
internal import Glibc
internal import MeasurementModel

/// Checks of the daemons that collectors ask.
extension DoctorCheck {
    /// How long a daemon may take for one answer: twice of it is less than ``deadline``, so that what was found is told, not only silence.
    private static let patience: Duration = .milliseconds(900)

    static let gpsd = DoctorCheck(name: "gpsd") { configuration in
        let settings = GeolocationConfiguration(configuration)
        let place =
            settings.gpsdHost.contains(":") ? "[\(settings.gpsdHost)]:\(settings.gpsdPort)" : "\(settings.gpsdHost):\(settings.gpsdPort)"
        let advice = "install and start gpsd, or set collector.geolocation.gpsd"
        let address = IPAddress(settings.gpsdHost) ?? (settings.gpsdHost == "localhost" ? IPAddress("127.0.0.1") : nil)
        guard let address else {
            return .no("gpsd at \(place) was not tried: the name would have to be looked up", "write its address instead of its name")
        }
        let descriptor = connected(address, settings.gpsdPort)
        guard descriptor >= 0 else { return .no("gpsd at \(place) cannot be reached: \(SystemError.text(-descriptor))", advice) }
        defer { close(descriptor) }
        guard let greeting = firstLine(descriptor), let version = try? JSONValue(parsing: greeting), version["class"]?.string == "VERSION"
        else {
            return .no("at \(place) there is something that does not greet like gpsd", advice)
        }
        let release = version["release"]?.string.map { " " + TerminalText.escaped($0, limit: 40) } ?? ""
        return .ok("gpsd\(release) answers at \(place)")
    }

    /// A connected socket, or -errno.
    private static func connected(_ address: IPAddress, _ port: UInt16) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(Int32(address.family.number), kind, 0)
        guard descriptor >= 0 else { return -errno }
        var failure: Int32 = 0
        if connect(descriptor, address, port) != 0 { failure = errno }
        if failure == EINPROGRESS {
            var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            var length = socklen_t(4)
            failure = 0
            if clinux_poll(&event, 1, patience.nanoseconds) == 0 {
                failure = ETIMEDOUT
            } else {
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
            }
        }
        guard failure != 0 else { return descriptor }
        close(descriptor)
        return -failure
    }

    private static func connect(_ descriptor: Int32, _ address: IPAddress, _ port: UInt16) -> Int32 {
        func call<Name>(_ name: inout Name) -> Int32 {
            withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Name>.size))
                }
            }
        }
        if address.family == .ipv4 {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &name.sin_addr) { $0.copyBytes(from: address.octets) }
            return call(&name)
        }
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        name.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &name.sin6_addr) { $0.copyBytes(from: address.octets) }
        return call(&name)
    }

    private static func firstLine(_ descriptor: Int32) -> [UInt8]? {
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        let end = MonotonicInstant.now() + patience
        while line.count < 4096 {
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard clinux_poll(&event, 1, max(0, (end - .now()).nanoseconds)) > 0 else { return nil }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            line += buffer[..<count]
            if let feed = line.firstIndex(of: 10) { return Array(line[..<feed]) }
        }
        return nil
    }

    /// What a system bus is opened by: as sd_bus_open_system(3) does it, `DBUS_SYSTEM_BUS_ADDRESS` comes first.
    private static var busIsThere: Bool {
        if let address = getenv("DBUS_SYSTEM_BUS_ADDRESS"), address[0] != 0 { return true }
        return access("/run/dbus/system_bus_socket", F_OK) == 0
    }

    static let systemBus = DoctorCheck(name: "system_bus", title: "the system bus") { _ in
        let advice = "if NetworkManager or a modem is to be asked, start dbus"
        guard busIsThere else { return .no("there is no system bus", advice) }
        return onBus(advice) { bus in
            // The first question waits for the bus to let us in, which a socket that is only there does not.
            var id: UnsafePointer<CChar>?
            let status = sd_bus_get_unique_name(bus, &id)
            return status >= 0
                ? .ok("the system bus is there") : .no("the system bus does not let us in: \(SystemError.text(-status))", advice)
        }
    }

    /// Whether somebody on the system bus has the name.
    static func busName(_ word: String, _ name: String, _ title: String, _ use: String) -> DoctorCheck {
        DoctorCheck(name: word, title: "the system bus, which would know about \(title),") { _ in
            let advice = "install and start \(title) if it is wanted: \(use)"
            guard busIsThere else { return .no("\(title) is not there, because there is no system bus", advice) }
            return onBus(advice) { bus in
                var owner: OpaquePointer?
                let found = sd_bus_get_name_creds(bus, name, 0, &owner)
                if found >= 0 { sd_bus_creds_unref(owner) }
                return found >= 0 ? .ok("\(title) is on the system bus") : .no("\(title) is not running", advice)
            }
        }
    }

    private static func onBus(_ advice: String, _ look: (OpaquePointer?) -> Finding) -> Finding {
        var bus: OpaquePointer?
        let opened = sd_bus_open_system(&bus)
        guard opened >= 0 else { return .no("the system bus does not let us in: \(SystemError.text(-opened))", advice) }
        defer { sd_bus_flush_close_unref(bus) }
        sd_bus_set_method_call_timeout(bus, UInt64(patience.nanoseconds / 1000))
        return look(bus)
    }
}
