import CollectorTestKit
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import CollectorCore

/// what the kernel itself does not let go.
struct UnkillableTests {
    /// The state letter of /proc/PID/stat: D is an uninterruptible wait.
    private static func state(_ pid: Int64) -> String? {
        TemporaryFolder.read("/proc/\(pid)/stat")?.split(separator: ")").last?.split(separator: " ").first.map(String.init)
    }

    @Test("R-4 P107 A collector that hangs in the kernel does not block the stop, and is reaped when the kernel lets go of it")
    func hungFileSystem() async throws {
        let collector = ProgramCollector(name: "hangs-in-kernel", program: Lab.path("collectors/hangs-in-kernel"))
        let outcome = try await ProgramRun.run(
            collector, stopDeadline: .seconds(2), until: { $0.snapshots >= 2 && $0.values[0].integer.flatMap(Self.state) == "S" },
            meanwhile: { try await Task.sleep(for: .milliseconds(500)) })
        let values = outcome.values.compactMap { $0?.integer }
        try #require(values.count == 2)
        #expect(outcome.program.state == .stuck)
        #expect(outcome.program.reason == "unkillable")
        #expect(
            outcome.program.detail
                == "not even SIGKILL ended it within 2000 ms: the kernel holds it in a wait for a device")
        #expect(outcome.isOtherUnharmed)
        // SIGKILL has come and does not help.
        #expect(Self.state(values[0]) == "D")
        kill(Int32(values[1]), SIGKILL)
        for _ in 0..<4000 where ProcessTable.exists(values[0]) { usleep(5000) }
        #expect(!ProcessTable.exists(values[0]), "reaped, and no zombie")
    }
}
