internal import CLinux
internal import Glibc
internal import MeasurementModel

/// What tells this machine, and this boot of it, from others.
public struct MachineIdentity: Sendable {
    /// Octets that another machine does not have; nil when this one has none.
    var machine: @Sendable () -> [UInt8]?
    /// The kernel's random id of this boot; nil without /proc.
    var boot: @Sendable () -> String?

    /// For tests, and for systems that know their machine by other means.
    ///
    /// - Parameters:
    ///   - machine: octets that no other machine has, the same at each call.
    ///   - boot: a text that is another one after each restart of the machine.
    public init(machine: @escaping @Sendable () -> [UInt8]?, boot: @escaping @Sendable () -> String?) {
        self.machine = machine
        self.boot = boot
    }

    /// machine-id(5), and the board's serial number where the device tree has one: an image that is copied to another board brings its
    /// machine-id along, and not the serial number. Both can be read by every user, so that every user gets the same answer.
    public static let system = MachineIdentity(root: "")

    init(root: String) {
        self.init {
            let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"].lazy.compactMap { Self.identifier(root + $0) }.first
            let serial = Self.line(root + "/proc/device-tree/serial-number")
            guard id != nil || serial != nil else { return nil }
            return Array("machine-id \(id ?? "")\nserial-number \(serial ?? "")\n".utf8)
        } boot: {
            Self.line(root + "/proc/sys/kernel/random/boot_id")
        }
    }

    /// Nil also for what machine-id(5) has while there is none: nothing, or `uninitialized` in an image before its first start, which every
    /// copy of the image would share.
    private static func identifier(_ path: String) -> String? {
        guard let text = line(path), text.utf8.count == 32, text.allSatisfy(\.isHexDigit), text.contains(where: { $0 != "0" }) else {
            return nil
        }
        return text
    }

    private static func line(_ path: String) -> String? {
        guard let octets = try? SystemFiles().read(path, limit: 4096) else { return nil }
        let text = octets.prefix { $0 > 0x20 && $0 < 0x7F }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// The hash that goes to the server, in hexadecimal digits.
    func hash(salt: [UInt8]) throws(RegistryError) -> String {
        guard let octets = machine() else {
            throw .unsuitable(
                "this machine has no machine-id(5) of 32 hexadecimal digits: make one with 'systemd-machine-id-setup' or "
                    + "'dbus-uuidgen > /etc/machine-id'")
        }
        guard let digest = Crypto.sha256(Array("fieldprobe/machine/1\n".utf8) + salt + octets) else {
            throw .unsuitable("this machine is out of memory")
        }
        return Hex.text(digest)
    }

    func bootID() throws(RegistryError) -> String {
        guard let boot = boot() else { throw .unsuitable("/proc/sys/kernel/random/boot_id cannot be read: mount /proc") }
        return boot
    }
}
