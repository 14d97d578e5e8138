import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import fieldprobe

/// `privacy`, `collectors` and `doctor`.
@Suite struct InspectionTests {
    /// R-27: the whole manifest, for programs and for people.
    @Test func privacy() async throws {
        let json = try #require(try await Program.run("privacy", "--json").json)
        #expect(json["schema"]?.string == "fieldprobe/privacy/1")
        #expect(json["linked_to_client"]?.bool == true)
        #expect(json["used_for_tracking"]?.bool == false)
        #expect(json["sent_to"]?.array?.isEmpty == true)
        #expect(json["permissions"]?["precise_location"]?.bool == false)
        #expect(json["collectors"]?[0]?["fields"]?.array?.isEmpty == false)
        let sent = try await Program.run("privacy", "--json", "--set", "fieldprobe.api-endpoint=https://server.example/v1")
        #expect(sent.json?["sent_to"]?.text() == #"["https://server.example/v1"]"#)
        let table = try await Program.run("privacy").output
        #expect(table.contains("Reports are sent to: nobody, no server is configured\n"))
        #expect(table.contains("Never used for tracking."))
        #expect(table.contains("  ABOUT ") && table.contains("  PURPOSE\n"))
        #expect(table.contains("  Lets people find the client\n"))
        #expect(table.contains("\nConfigured purposes\n  none\n"))
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "f.conf", "[purpose.drive]\nprecise-location = yes\ntext = Compares by place.\n[purpose.no]\ntext = T.\n")
        let purposes = try await Program.run("privacy", "--config", file).output
        #expect(purposes.contains("\n  drive: Compares by place. A run for it may see: precise_location\n"))
        #expect(purposes.contains("\n  no: T. A run for it may see: nothing that needs a permission\n"))
        let listed = try await Program.run("privacy", "--json", "--config", file).json?["purposes"]
        #expect(listed?[0]?["purpose"]?["key"]?.string == "drive" && listed?[0]?["precise_location"]?.bool == true)
        #expect(listed?[1]?["purpose"]?["text"]?.string == "T." && listed?[1]?["precise_location"]?.bool == false)
        #expect(table.contains("Permission precise_location: off"))
        #expect(table.contains("connection-detail (connection_detail_trace)"))
        #expect(
            try await Program.run("privacy", "--set", "permissions.precise-location=yes").output.contains("Permission precise_location: on")
        )
    }

    @Test func collectors() async throws {
        let list = try #require(try await Program.run("collectors", "list", "--json").json?.array)
        #expect(
            list.contains {
                $0["name"]?.string == "geolocation" && $0["trace"]?.string == "geolocation_trace" && $0["enabled"]?.bool == true
            })
        // It is off until somebody turns it on.
        for answer in ["no", "yes"] {
            let list = try await Program.run("collectors", "list", "--json", "--set", "collector.neighbours.enabled=\(answer)").json?.array
            #expect(list?.first { $0["name"]?.string == "neighbours" }?["enabled"]?.bool == (answer == "yes"))
        }
        #expect(list.contains { $0["name"]?.string == "neighbours" && $0["enabled"]?.bool == false })
        #expect(try await Program.run("collectors", "list").output.hasPrefix("NAME"))
        let described = try await Program.run("collectors", "describe", "connection-detail")
        #expect(described.output.contains("Trace: connection_detail_trace"))
        #expect(described.output.contains("is_internet_reachable"))
        #expect(
            try await Program.run("collectors", "describe", "connection-detail", "--json").json?["fields"]?[0]?["name"]?.string == "type")
    }

    @Test func doctor() async throws {
        let folder = try TemporaryFolder()
        let set = ["--set", "fieldprobe.state-directory=\(folder.path)", "--set", "permissions.wifi-identity=yes"]
        let outcome = try await Program.run("doctor", "--json", set[0], set[1], set[2], set[3])
        #expect(outcome.status == 0)
        let checks = try #require(outcome.json?["checks"]?.array)
        #expect(checks.compactMap { $0["name"]?.string } == DoctorCheck.all.map(\.name) + ["collectors"])
        func check(_ name: String) -> JSONValue? { checks.first { $0["name"]?.string == name } }
        #expect(check("state_directory")?["ok"]?.bool == true)
        #expect(check("permission_wifi_identity")?["ok"]?.bool == true)
        #expect(check("permission_precise_location")?["ok"]?.bool == false)
        for check in checks where check["ok"]?.bool == false { #expect(check["advice"]?.string?.isEmpty == false) }
        let text = try await Program.run("doctor", "--set", "fieldprobe.state-directory=/nonexistent/state")
        #expect(text.output.contains("no  the state folder /nonexistent/state cannot be written: No such file or directory\n"))
        #expect(text.output.contains("install -d -m 0700 /nonexistent/state"))
    }

    /// A bus that lets everybody connect and never answers: python3 is the bus.
    @Test(.timeLimit(.minutes(1))) func doctorDoesNotWaitForASilentBus() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await Program.shell(
            #"""
            cd \#(folder.path)
            python3 -c 'import socket,time; s=socket.socket(socket.AF_UNIX); s.bind("bus"); s.listen(50); open("ready","w"); time.sleep(60)' &
            while ! test -e ready; do sleep 0.05; done
            DBUS_SYSTEM_BUS_ADDRESS=unix:path=\#(folder.path)/bus timeout 20 "$0" doctor --json
            status=$?; kill %1 $!; exit $status
            """#)
        #expect(outcome.status == 0)
        let checks = try #require(outcome.json?["checks"]?.array)
        #expect(checks.count == DoctorCheck.all.count + 1)
        for name in ["system_bus", "networkmanager", "modemmanager"] {
            let check = try #require(checks.first { $0["name"]?.string == name })
            #expect(check["ok"]?.bool == false)
            #expect(check["what"]?.string?.contains("the system bus") == true)
        }
        #expect(checks.first { $0["name"]?.string == "configuration" }?["ok"]?.bool == true)
        // The address counts, not the usual socket.
        let nowhere = try await Program.shell("DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus exec \"$0\" doctor --json")
        let bus = nowhere.json?["checks"]?.array?.first { $0["name"]?.string == "system_bus" }
        #expect(bus?["what"]?.string?.contains("No such file or directory") == true)
    }

    @Test func doctorHasADeadline() throws {
        let checks = [
            DoctorCheck(name: "hangs", title: "the daemon") { _ in
                sleep(300)
                return .ok("")
            }, DoctorCheck(name: "fine") { _ in .ok("it is") },
        ]
        let begin = MonotonicInstant.now()
        let findings = try DoctorCheck.findings(Configuration(), of: checks)
        #expect(MonotonicInstant.now() - begin < .seconds(120))
        #expect(findings.map(\.finding.what) == ["the daemon does not answer", "it is"])
    }

    @Test func doctorKnowsGpsdByItsGreeting() async throws {
        let greeting = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
        let gpsd = try await LoopbackServer.run { connection in
            connection.send(greeting + "\r\n")
            connection.hang()
        } test: {
            try await gpsdCheck($0.port)
        }
        #expect(gpsd["ok"]?.bool == true)
        #expect(gpsd["what"]?.string?.contains("gpsd 3.22 answers at 127.0.0.1:") == true)
        let other = try await LoopbackServer.run { connection in
            connection.send("SSH-2.0\r\n")
            connection.hang()
        } test: {
            try await gpsdCheck($0.port)
        }
        #expect(other["ok"]?.bool == false)
        let silent = try await LoopbackServer.run {
            $0.hang()
        } test: {
            try await gpsdCheck($0.port)
        }
        #expect(silent["ok"]?.bool == false)
    }

    private func gpsdCheck(_ port: UInt16) async throws -> JSONValue {
        let outcome = try await Program.run("doctor", "--json", "--set", "collector.geolocation.gpsd=127.0.0.1:\(port)")
        return try #require(outcome.json?["checks"]?.array?.first { $0["name"]?.string == "gpsd" })
    }
}
