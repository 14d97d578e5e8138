internal import CLinux
internal import CollectorCore
internal import DeviceRegistration
internal import Glibc
internal import MeasurementModel

/// Checks of this program's own set-up.
extension DoctorCheck {
    static let configuration = DoctorCheck(name: "configuration") { configuration in
        if let file = configuration.file { return .ok("the configuration is \(file)") }
        return .ok("there is no \(Configuration.standardPath): everything is at its default")
    }

    static let stateFolder = DoctorCheck(name: "state_directory") { configuration in
        let folder = configuration.stateDirectory
        let name = "\(folder)/.doctor-\(getpid())"
        let descriptor = clinux_open(name, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else {
            let advice =
                descriptor == -ENOENT
                ? "make it: install -d -m 0700 \(folder)" : "let this user write there, or set fieldprobe.state-directory"
            return .no("the state folder \(folder) cannot be written: \(SystemError.text(-descriptor))", advice)
        }
        close(descriptor)
        unlink(name)
        return .ok("the state folder \(folder) can be written")
    }

    static let registration = DoctorCheck(name: "registration") { configuration in
        do {
            let status = try Registration.registry(configuration).status()
            guard let obstacle = status.obstacle else { return .ok("this device is registered, and the server has confirmed it") }
            return .no("no test may run but with '--unregistered'", obstacle.message)
        } catch {
            return .no("the registration cannot be read", "\(error)")
        }
    }

    static let clock = DoctorCheck(name: "clock") { _ in
        switch clinux_clock_synchronised() {
        case 1: .ok("the clock is synchronised")
        case 0: .no("the clock is not synchronised", "run an NTP client, such as systemd-timesyncd or chrony")
        case let error: .no("the kernel does not tell about the clock: \(SystemError.text(-error))", "allow adjtimex(2)")
        }
    }

    static let preciseLocation = permission("precise_location", "precise-location") { $0.permissions.allows(.preciseLocation) }
    static let wifiIdentity = permission("wifi_identity", "wifi-identity") { $0.permissions.allows(.wifiIdentity) }

    private static func permission(_ name: String, _ key: String, _ isOn: @escaping @Sendable (Configuration) -> Bool) -> DoctorCheck {
        DoctorCheck(name: "permission_\(name)") { configuration in
            if isOn(configuration) { return .ok("the permission \(key) is on") }
            return .no("the permission \(key) is off", "if it is wanted, set permissions.\(key) = yes, or name a purpose for one run")
        }
    }

    static let wifi = DoctorCheck(name: "nl80211") { _ in
        let radios = "/sys/class/ieee80211"
        guard access(radios, F_OK) == 0 else {
            return .no("the kernel has no nl80211", "if this machine has Wi-Fi, load its driver (modprobe cfg80211)")
        }
        let names = namesInFolder(radios).filter { !$0.hasPrefix(".") }
        guard !names.isEmpty else { return .no("there is no Wi-Fi radio", "nothing, if this machine has no Wi-Fi") }
        return .ok("nl80211 knows \(names.sorted().joined(separator: ", "))")
    }
}
