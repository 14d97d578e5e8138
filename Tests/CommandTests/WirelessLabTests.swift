import Glibc
import LabSupport
import MeasurementModel
import Testing

/// The program on a real kernel with simulated radios, in a virtual machine: see Tests/Labs/wifi/lab.
///
/// `FIELDPROBE_DRIVE_STEPS` and `FIELDPROBE_SEED` change the drive.
@Suite(.serialized) struct WirelessLabTests {
    private static func scenario(_ name: String, radios: Int, _ words: String...) async throws -> String {
        let steps = Int(words.first ?? "0")!
        let timeout = 300 + steps * 10
        let command = [
            Lab.path("wifi/lab"), "run", "--radios", "\(radios)", "--timeout", "\(timeout)", "--", Lab.path("wifi/\(name)"), Program.path,
        ]
        let child = try ChildProcess(command + words, merged: true)
        let (output, status) = try await offPool { child.finish() }
        let faults = output.split(separator: "\n").filter { !$0.hasPrefix("ok") }.joined(separator: "\n")
        print(faults)
        #expect(status == 0, "\(name) ended with \(status)\n\(faults)")
        return output
    }

    private static func number(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    @Test(
        "R-12 R-16 R-19 A drive at random through a Wi-Fi world: every settled snapshot is what iw says, every association is in the trace")
    func drive() async throws {
        let seed = Self.number("FIELDPROBE_SEED") ?? "\(UInt32.random(in: 0 ... .max))"
        let output = try await Self.scenario("roam.py", radios: 4, Self.number("FIELDPROBE_DRIVE_STEPS") ?? "40", seed)
        #expect(output.contains(" 0 faults"))
    }

    @Test("R-16 P38 P39 P40 With wpa_supplicant: WPA2, roams, lost access points, a hidden name that is not UTF-8")
    func supplicant() async throws {
        let output = try await Self.scenario("supplicant.py", radios: 3)
        #expect(output.contains(" 0 faults"))
    }

    @Test("R-14 R-15 R-18 Kinds of devices that small kernels do not have: VLAN, bond, tunnels, WireGuard, VRF, Wi-Fi below them")
    func kinds() async throws {
        let output = try await Self.scenario("kinds.py", radios: 2)
        #expect(output.contains("kinds: 0 faults"))
    }
}
