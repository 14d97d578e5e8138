internal import CLinux
internal import Glibc
internal import Netlink

/// `DEVTYPE` of a device, from its uevent in sysfs(5): `wlan`, `wwan`, `bluetooth` and others.
enum DeviceType {
    /// Sysfs goes by name and shows the network namespace that it was mounted in: index and address must agree, or it speaks of another
    /// device.
    static func of(_ link: LinkMessage) -> String? {
        guard !link.name.isEmpty, !link.name.contains("/") else { return nil }
        let folder = "/sys/class/net/\(link.name)"
        guard let uevent = contents("\(folder)/uevent"), let address = contents("\(folder)/address") else { return nil }
        let lines = uevent.split(separator: "\n")
        guard lines.contains("IFINDEX=\(link.index)") else { return nil }
        let octets = address.split(whereSeparator: { $0 == ":" || $0 == "\n" }).compactMap { UInt8($0, radix: 16) }
        guard octets == link.address else { return nil }
        return lines.first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst("DEVTYPE=".count)) }
    }

    private static func contents(_ path: String) -> String? {
        let descriptor = clinux_open(path, O_RDONLY, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
