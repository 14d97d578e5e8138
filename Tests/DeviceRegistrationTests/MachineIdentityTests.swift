import LabSupport
import Testing

@testable import DeviceRegistration

/// what a machine is told by is its own, or it is not used.
@Suite struct MachineIdentityTests {
    private static let id = "4f3c1d0e9a8b47c6b5a4938271605f4e"
    private static let other = "0123456789abcdef0123456789abcdef"
    private let root: TemporaryFolder
    init() throws { root = try TemporaryFolder() }

    private func hash(_ files: [String: String]) throws -> String {
        for folder in ["etc", "var/lib/dbus", "proc/device-tree"] { try ChildProcess.run("mkdir", "-p", "\(root.path)/\(folder)") }
        for path in ["etc/machine-id", "var/lib/dbus/machine-id", "proc/device-tree/serial-number"] {
            try ChildProcess.run("rm", "-f", "\(root.path)/\(path)")
        }
        for (path, text) in files { _ = try root.write(path, text) }
        return try MachineIdentity(root: root.path).hash(salt: [1, 2, 3])
    }

    /// machine-id(5): an image before its first start has an empty file, or one that says `uninitialized`.
    @Test(arguments: [
        "", "\n", "uninitialized\n", "00000000000000000000000000000000\n", "4f3c1d0e\n", "not-hexadecimal-digits-but-32-of\n",
    ])
    func whatEveryCopyOfAnImageHasIsNoIdentity(_ text: String) throws {
        #expect(throws: RegistryError.self) { try hash(["etc/machine-id": text]) }
        #expect(throws: RegistryError.self) { try hash(["var/lib/dbus/machine-id": text]) }
        let theirs = try hash(["var/lib/dbus/machine-id": Self.id + "\n"])
        #expect(try hash(["etc/machine-id": text, "var/lib/dbus/machine-id": Self.id + "\n"]) == theirs)
        #expect(try hash(["etc/machine-id": Self.other + "\n", "var/lib/dbus/machine-id": Self.id + "\n"]) != theirs)
    }

    @Test func aBoardsSerialNumberTellsTwoCopiesApart() throws {
        let plain = try hash(["etc/machine-id": Self.id + "\n"])
        #expect(try hash(["etc/machine-id": Self.id]) == plain)
        let one = try hash(["etc/machine-id": Self.id + "\n", "proc/device-tree/serial-number": "10000000a1b2c3d4\0"])
        let two = try hash(["etc/machine-id": Self.id + "\n", "proc/device-tree/serial-number": "10000000a1b2c3d5\0"])
        #expect(Set([plain, one, two]).count == 3)
        // The serial number alone does it too.
        _ = try hash(["etc/machine-id": "uninitialized\n", "proc/device-tree/serial-number": "10000000a1b2c3d4\0"])
    }
}
