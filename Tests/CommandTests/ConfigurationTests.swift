import CollectorCore
import LabSupport
import MeasurementModel
import Testing

@testable import fieldprobe

/// The configuration: what it accepts, and what it says about what it does not.
@Suite struct ConfigurationTests {
    private static let complete = """
        # everything that there is
        [fieldprobe]
        api-endpoint = https://server/client_api/v1
        state-directory = /var/lib/fieldprobe
        [permissions]
        precise-location = no
        wifi-identity = yes
        [purpose.drive-test]                     ; a purpose key for one run: fieldprobe run --purpose drive-test
        precise-location = yes
        text = "Compares; measured \\"quality\\" by place." ; told to people
        [collector.connection-detail]
        enabled = yes
        target = 198.51.100.7                    ; host or address; a test's own target wins
        poll-interval = 500ms
        metered-interfaces = wwan0 usb0
        tunnel-peers = tun0=203.0.113.50 tun1=2001:db8::1         ; where a tunnel's packets go, for its underlay
        [collector.geolocation]
        enabled = no
        gpsd = [::1]:2948
        device = /dev/ttyACM0
        max-error-95 = 50.5                       # metres
        min-distance = 0
        [queue]
        limit = 50
        retry-interval = 2min
        """

    @Test func everyKey() throws {
        let configuration = try Configuration(text: Self.complete)
        #expect(configuration.apiEndpoint == "https://server/client_api/v1")
        #expect(configuration.permissions.granted == [.wifiIdentity])
        let granted = try configuration.permissions(purpose: "drive-test")
        #expect(granted.granted == [.wifiIdentity, .preciseLocation])
        #expect(granted.purpose == Permissions.Purpose(key: "drive-test", text: "Compares; measured \"quality\" by place."))
        // R-25: the grant was for one run; what every run may see is as it was.
        #expect(configuration.permissions.granted == [.wifiIdentity])
        let connection = ConnectionDetailConfiguration(configuration)
        #expect(connection.target == "198.51.100.7")
        #expect(connection.pollInterval == .milliseconds(500))
        #expect(connection.meteredInterfaces == ["wwan0", "usb0"])
        #expect(connection.tunnelPeers == ["tun0": IPAddress("203.0.113.50")!, "tun1": IPAddress("2001:db8::1")!])
        let geolocation = GeolocationConfiguration(configuration)
        #expect(geolocation.gpsdHost == "::1" && geolocation.gpsdPort == 2948)
        #expect(geolocation.device == "/dev/ttyACM0")
        #expect(geolocation.maximumError95 == 50.5 && geolocation.minimumDistance == 0)
        for key in ConfigurationTable.keys {
            let section = key.section == "purpose.KEY" ? "purpose.drive-test" : key.section
            #expect(configuration.text(section, key.name) != nil || key.fallback == nil)
        }
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        let configuration = try Configuration(text: "\u{FEFF}[permissions]\r\nwifi-identity = yes\r\n[queue]\r\n")
        #expect(configuration.permissions.granted == [.wifiIdentity])
    }

    @Test func defaults() throws {
        let configuration = try Configuration(text: "")
        #expect(configuration.permissions == .none)
        #expect(configuration.stateDirectory == "/var/lib/fieldprobe")
        let connection = ConnectionDetailConfiguration(configuration)
        #expect(connection.target == nil && connection.pollInterval == .seconds(10))
        #expect(connection.meteredInterfaces.isEmpty && connection.tunnelPeers.isEmpty)
        let geolocation = GeolocationConfiguration(configuration)
        #expect(geolocation.gpsdHost == "127.0.0.1" && geolocation.gpsdPort == 2947 && geolocation.device == nil)
        #expect(geolocation.maximumError95 == 100 && geolocation.minimumDistance == 1)
        for key in ConfigurationTable.keys { if let fallback = key.fallback { #expect(key.value.admits(fallback)) } }
    }

    @Test(
        arguments: [
            ("x = 1", 1, "a key stands below a section"), ("[fieldprobe\n", 1, "a section is written as [name]"),
            ("[permissions]\n\n; c\nwifi-identity", 4, "a line is 'key = value' or '[section]'"),
            ("[permissions]\n= yes", 2, "the key before '=' is missing"),
            ("[permission]\nwifi-identity = yes", 1, "there is no section [permission]: there are fieldprobe, permissions, purpose.KEY"),
            ("[permissions]\nwifi = yes", 2, "there is no key 'wifi' in [permissions]: there are precise-location, wifi-identity"),
            ("[permissions]\nwifi-identity = maybe", 2, "'wifi-identity' in [permissions] needs 'yes' or 'no', and 'maybe' is none"),
            ("[permissions]\nwifi-identity = yes\nwifi-identity = no", 3, "is set already, at f.conf:2"),
            (
                "[collector.connection-detail]\npoll-interval = 10", 2,
                "needs a duration longer than zero and of at most 10 years, such as 500ms, 10s or 2min, and '10' is none"
            ),
            ("[collector.connection-detail]\npoll-interval = 0s", 2, "needs a duration"),
            ("[collector.connection-detail]\ntunnel-peers = tun0", 2, "needs interface=address"),
            ("[collector.connection-detail]\nmetered-interfaces = a/b", 2, "needs interface names"),
            ("[collector.connection-detail]\ntarget = two words", 2, "needs a host name or an address"),
            ("[collector.geolocation]\ngpsd = ::1:2947", 2, "needs host:port"),
            ("[collector.geolocation]\ngpsd = localhost", 2, "needs host:port"),
            ("[collector.geolocation]\nmax-error-95 = -1", 2, "needs a number from 0.1 to 10000"),
            ("[collector.geolocation]\nmax-error-95 = nan", 2, "needs a number"),
            ("[queue]\nlimit = 0", 2, "needs a whole number from 1 to 10000"),
            ("[fieldprobe]\napi-endpoint = server", 2, "needs an address such as https://"),
            ("[fieldprobe]\nstate-directory = lib", 2, "needs an absolute path"),
            ("[fieldprobe]\nstate-directory = \"/var", 2, "the closing quote is missing"),
            ("[fieldprobe]\nstate-directory = \"/var\" x", 2, "something follows the closing quote"),
            ("[purpose.x]\nprecise-location = yes", 1, "[purpose.x] needs 'text'"),
            ("[purpose.x y]\ntext = z", 1, "there is no section [purpose.x y]"),
            ("[purpose.KEY.more]\ntext = z", 1, "there is no section"),
            ("\n[nothing]", 2, "there is no section [nothing]"), ("[queue]\n[purpose.x]\n[queue]\n", 2, "[purpose.x] needs 'text'"),
            ("[purpose.x]\ntext =", 2, "needs a text"), ("\u{FEFF}[nothing]", 1, "there is no section [nothing]"),
        ] as [(String, Int, String)])
    func faultsNameTheirLine(_ text: String, _ line: Int, _ message: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try Configuration(text: text, file: "f.conf") }
        #expect(failure?.status == .configuration)
        #expect(failure?.description.hasPrefix("f.conf:\(line): ") == true)
        #expect(failure?.description.contains(message) == true)
    }

    @Test func settingValuesOnTheCommandLine() throws {
        let configuration = try Configuration(
            text: "[permissions]\nwifi-identity = yes",
            set: ["permissions.wifi-identity=no", "collector.geolocation.gpsd=192.0.2.1:1", "purpose.p.text=x = y"])
        #expect(configuration.permissions == .none)
        #expect(GeolocationConfiguration(configuration).gpsdHost == "192.0.2.1")
        #expect(try configuration.permissions(purpose: "p").purpose?.text == "x = y")
        for wrong in [
            "permissions", "permissions.wifi-identity", "permissions.wifi=yes", "nothing.wifi-identity=yes", "permissions.wifi-identity=7",
        ] {
            let failure = #expect(throws: CommandFailure.self) { try Configuration(text: "", set: [wrong]) }
            #expect(failure?.description.hasPrefix("--set: ") == true)
        }
    }

    @Test func durationsAndEndpoints() {
        #expect(ConfigurationValue.duration("10s") == .seconds(10))
        #expect(ConfigurationValue.duration("2 min") == .seconds(120))
        #expect(ConfigurationValue.duration("1h") == .seconds(3600))
        #expect(ConfigurationValue.duration("87600h") == .seconds(315_360_000))
        for wrong in ["", "s", "10", "-1s", "1.5s", "10m", "99999999999s", "87601h", "999999999h", "315360001s", "9999999999999999999ms"] {
            #expect(ConfigurationValue.duration(wrong) == nil)
        }
        for wrong in ["", ":1", "h:0", "h:65536", "[h]:1", "[::1]", "::1:1", "h:x"] { #expect(ConfigurationValue.endpoint(wrong) == nil) }
    }

    @Test func files() async throws {
        let missing = try await Program.run("doctor", "--config", "/nonexistent/f.conf")
        #expect(missing.status == 121)
        #expect(missing.errors == "fieldprobe: /nonexistent/f.conf: the configuration cannot be read: No such file or directory\n")
        let folder = try TemporaryFolder()
        let wrong = try folder.write("f.conf", "[permissions]\n\nwifi-identity = perhaps\n")
        let outcome = try await Program.run("run", "--unregistered", "--config", wrong, "--", "touch", "\(folder.path)/ran")
        #expect(outcome.status == 121)
        #expect(outcome.errors.contains("\(wrong):3: 'wifi-identity' in [permissions] needs 'yes' or 'no', and 'perhaps' is none"))
        #expect(TemporaryFolder.read("\(folder.path)/ran") == nil)
        let right = try folder.write("g.conf", "[permissions]\nwifi-identity = yes\n[purpose.p]\nprecise-location = yes\ntext = T.\n")
        let run = try await Program.run("run", "--unregistered", "--config", right, "--purpose", "p", "--json", "--", "true")
        #expect(run.json?["permissions"]?.text() == #"{"precise_location":true,"wifi_identity":true,"purpose":{"key":"p","text":"T."}}"#)
    }

    /// The documentation follows the tables.
    @Test func documentation() throws {
        let text = try #require(TemporaryFolder.read("docs/configuration.md"), "tests run in the package's folder")
        for section in ConfigurationTable.sections { #expect(text.contains("\n## [\(section)]\n")) }
        for key in ConfigurationTable.keys {
            let fallback = key.fallback.map { "`\($0)`" } ?? "none"
            #expect(text.contains("| `\(key.name)` | \(key.value.form) | \(fallback) | \(key.about) |\n"))
        }
        for key in CollectorFile.keys {
            let fallback = key.fallback.map { "`\($0)`" } ?? "none"
            #expect(text.contains("| `\(key.name)` | \(key.value.form) | \(fallback) | \(key.about) |\n"))
        }
        let codes = try #require(TemporaryFolder.read("docs/exit-codes.md"))
        for status in ExitStatus.allCases { #expect(codes.contains("| \(status.rawValue) | \(status.meaning) |\n")) }
    }
}
