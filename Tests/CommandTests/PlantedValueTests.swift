import Glibc
import LabSupport
import MeasurementModel
import Testing

/// with the permissions off, which is the default, nothing that the program writes anywhere has a position or a Wi-Fi name in it.
@Suite struct PlantedValueTests {
    /// Digits of a planted position that no other number has.
    private static let planted = ["47.39771", "8.54559"]

    private static func output(_ arguments: String, permission: Bool = false) async throws -> String {
        try await GPSDLab.run { lab in
            try lab.feed("still:20", options: ["--lat", "47.397712", "--lon", "8.545594"])
            let folder = try TemporaryFolder()
            let grant = permission ? "--set permissions.precise-location=yes" : ""
            let words = arguments.split(separator: " ", maxSplits: 1)
            let rest = words.count > 1 ? words[1] : ""
            let line = "cd \(folder.path) && \"$0\" \(words[0]) --set collector.geolocation.gpsd=127.0.0.1:\(lab.port) \(grant) \(rest)"
            let outcome = try await Program.shell(line)
            // Every file that it has left, too.
            let files = try await Program.shell("cd \(folder.path) && cat -- * 2> /dev/null")
            _ = consume folder
            return outcome.output + outcome.errors + files.output
        }
    }

    @Test(
        arguments: [
            "run --unregistered --output report.json -- sleep 3", "run --unregistered -- sleep 3", "run --unregistered --json -- sleep 3", "watch --duration 3s",
            "watch --json --duration 3s",
            "doctor", "doctor --json", "privacy --json",
        ])
    func nothingIsShown(_ arguments: String) async throws {
        let everything = try await Self.output(arguments)
        #expect(!everything.isEmpty)
        for value in Self.planted { #expect(!everything.contains(value)) }
        #expect(!everything.contains("\"latitude\":"))
        #expect(!everything.contains("\"ssid\":") && !everything.contains("\"bssid\":"))
    }

    @Test("The same search finds the position when the permission is on: it would find a leak")
    func theSearchFinds() async throws {
        let report = try await Self.output("run --unregistered --output report.json -- sleep 3", permission: true)
        for value in Self.planted { #expect(report.contains(value)) }
        let live = try await Self.output("watch --json --duration 3s", permission: true)
        for value in Self.planted { #expect(live.contains(value)) }
    }

    @Test("Without the permission gpsd is not even connected to")
    func noConnection() async throws {
        let gpsd = try FakeGPSD { client in client.send("{\"class\":\"VERSION\",\"release\":\"3.22\"}\r\n") }
        defer { gpsd.stop() }
        let line = "\"$0\" run --unregistered --quiet --set collector.geolocation.gpsd=127.0.0.1:\(gpsd.port)"
        #expect(try await Program.shell("\(line) -- sleep 0.5").status == 0)
        #expect(gpsd.connections == 0)
        #expect(try await Program.shell("\(line) --set permissions.precise-location=yes -- sleep 0.5").status == 0)
        #expect(gpsd.connections > 0)
    }
}
