import CollectorCore
import CollectorTestKit
import MeasurementModel
import Testing

@testable import QualityTests

/// What stands in a report.
@Suite struct ReportTests {
    struct Gate: TestGate {
        func admit(_ kind: TestKind) throws -> TestAdmission {
            TestAdmission(client: Report.Client(uuid: "u-1", label: "van 7", tags: ["north"]), clockOffset: .milliseconds(-250))
        }
    }

    struct Thermal: Collector {
        let hasRecorded: Release
        let descriptor = CollectorDescriptor(
            name: "thermal", version: "1.0", trace: "thermal_trace",
            fields: [.number("temperature", unit: .celsius, privacy: .otherDiagnosticData, changes: .by(0.5), about: "Hottest zone")])
        func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
            trace.record(["temperature": .number(40)])
            trace.record(["temperature": .number(40.25)])
            hasRecorded.now()
        }
    }

    /// R-5, R-7, R-9: the whole document, with standing clocks.
    @Test func golden() async throws {
        let clock = ManualClock(wall: Timestamp(iso8601: "2026-11-30T13:23:25.123Z")!)
        var settings = QualityTest.Settings()
        settings.collectors.clock = clock
        settings.device = DeviceFacts(root: "/nonexistent")
        settings.device.kernel = "Linux 6.1.0"
        settings.device.architecture = "aarch64"
        settings.device.model = "Board"
        let hasRecorded = Release()
        let test = try QualityTest(
            type: "NETWORK", subject: "ping", gate: Gate(), target: "192.0.2.1", collectors: [Thermal(hasRecorded: hasRecorded)],
            settings: settings)
        let report = try await test.run { _ in
            // The collector runs beside the measurement, and has looked before the clock moves.
            while !hasRecorded.hasCome { try await Task.sleep(for: .milliseconds(1)) }
            clock.advance(by: .milliseconds(1500))
            clock.step(by: .seconds(-10))
            return ["rtt_ms": 12.5]
        }
        var object = try #require(report.json.object)
        object["id"] = .string("ID")
        var time = try #require(object["time"]?.object)
        #expect(time["synchronised"]?.bool != nil)
        time["synchronised"] = nil
        object["time"] = .object(time)
        let expected = """
            {"schema":"fieldprobe/report/1","id":"ID","type":"NETWORK","subject":"ping","client_uuid":"u-1","client_label":"van 7",\
            "client_tags":["north"],"client_version":"0.1.0","device":{"model":"Board","kernel":"Linux 6.1.0","architecture":"aarch64"},\
            "started_at":"2026-11-30T13:23:25.123Z","started_at_skewed":"2026-11-30T13:23:24.873Z",\
            "finished_at":"2026-11-30T13:23:16.623Z","finished_at_skewed":"2026-11-30T13:23:16.373Z","duration_ms":1500,\
            "finished_reason":"completed","target":{"host":"192.0.2.1","addresses":["192.0.2.1"],"known_from_offset_ms":0},\
            "result":{"rtt_ms":12.5},"thermal_trace":[{"client_time":"2026-11-30T13:23:25.123Z",\
            "client_time_skewed":"2026-11-30T13:23:24.873Z","offset_ms":0,"temperature":40}],\
            "collectors":[{"name":"thermal","version":"1.0","trace":"thermal_trace","state":"ok","recorded":1,"suppressed":1,"gaps":[],\
            "resyncs":0}],"permissions":{"precise_location":false,"wifi_identity":false},\
            "time":{"server_offset_ms":-250,"steps":[{"offset_ms":1500,"size_ms":-10000}]}}
            """
        #expect(JSONValue.object(object).text() == expected)
    }

    /// The device's facts tell nothing that tells one machine from another.
    @Test func deviceFactsHaveNoIdentifiers() throws {
        let text = JSONValue.object(DeviceFacts.ofThisMachine.json).text()
        for path in [
            "/etc/machine-id", "/sys/class/dmi/id/product_serial", "/sys/class/dmi/id/product_uuid", "/proc/sys/kernel/random/boot_id",
        ] {
            guard let secret = TextFile.read(path)?.split(whereSeparator: \.isNewline).first, secret.count > 6 else { continue }
            #expect(!text.contains(secret))
        }
        let host = try #require(TextFile.read("/proc/sys/kernel/hostname")?.split(whereSeparator: \.isNewline).first)
        #expect(DeviceFacts.ofThisMachine.model != String(host))
        #expect(DeviceFacts.ofThisMachine.kernel?.hasPrefix("Linux ") == true)
    }

    @Test func osRelease() {
        #expect(
            DeviceFacts.value("PRETTY_NAME", in: "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
                == "Debian GNU/Linux 12 (bookworm)")
        #expect(DeviceFacts.value("PRETTY_NAME", in: "PRETTY_NAME='One'\r\n") == "One")
        #expect(DeviceFacts.value("PRETTY_NAME", in: "PRETTY_NAME=\"\"") == nil)
        #expect(DeviceFacts.value("PRETTY_NAME", in: "") == nil)
    }

    /// R-4: a name is resolved beside the test, once, and the report says when it was known.
    @Test func aNameIsResolvedBesideTheTest() async throws {
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate(), target: "localhost")
        let report = try await test.run { session in
            while session.target.value.addresses.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            return 1
        }
        let target = try #require(report.target)
        #expect(target["host"]?.string == "localhost")
        #expect(target["addresses"]?.array?.contains(.string("127.0.0.1")) == true)
        #expect(target["known_from_offset_ms"]?.int64 != nil)
    }

    @Test func onlyTheMeasurementTellsTheAddressWhereItMust() async throws {
        var settings = QualityTest.Settings()
        settings.lookup = .measurement
        let unknown = try QualityTest(type: "WEB", subject: "website", gate: OpenGate(), target: "localhost", settings: settings)
        let silent = try await unknown.run { _ in
            try await Task.sleep(for: .milliseconds(100))
            return 1
        }
        #expect(silent.target?["addresses"] == nil)
        let told = try QualityTest(type: "WEB", subject: "website", gate: OpenGate(), target: "localhost", settings: settings)
        let report = try await told.run { session in
            session.reached(IPAddress("192.0.2.9")!)
            session.reached(IPAddress("192.0.2.10")!)
            return 1
        }
        #expect(report.target?["addresses"]?.text() == #"["192.0.2.9"]"#)
    }

    @Test func ids() {
        let ids = Set((0..<1000).map { _ in MeasurementID.make() })
        #expect(ids.count == 1000)
        let shape = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(ids.allSatisfy { $0.wholeMatch(of: shape) != nil })
    }
}

/// Results of any type become JSON in the report (R-8: never NaN, never null in an object).
@Suite struct ResultEncoderTests {
    struct Inner: Encodable {
        var list: [Double?] = [1, nil, .nan, 0.5]
        var float: Float = 0.1
        var big = UInt64.max
    }
    class Base: Encodable { let base = 1 }
    final class Derived: Base {
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("yes", forKey: .derived)
            try super.encode(to: container.superEncoder())
        }
        enum Key: CodingKey { case derived }
    }
    struct Outer: Encodable {
        var zebra = 1
        var apple: String? = nil
        var rate = Double.infinity
        var inner = Inner()
        var map = ["k": [true, false]]
        var json = JSONValue.object(["z": .null, "a": .integer(1)])
        var letters: [[String]] = [[], ["a"]]
    }

    @Test func orderIsKeptAndWhatIsNoValueLeftOut() throws {
        let text = try ResultEncoder.json(Outer())?.text()
        #expect(
            text
                == #"{"zebra":1,"inner":{"list":[1,null,null,0.5],"float":0.1,"big":18446744073709551615},"map":{"k":[true,false]},"#
                + #""json":{"z":null,"a":1},"letters":[[],["a"]]}"#)
        #expect(try ResultEncoder.json(Derived())?.text() == #"{"derived":"yes","super":{"base":1}}"#)
        #expect(try ResultEncoder.json(5)?.text() == "5")
        #expect(try ResultEncoder.json("x")?.text() == #""x""#)
        #expect(try ResultEncoder.json(Double.nan) == nil)
        #expect(try ResultEncoder.json(Int?.none) == nil)
    }
}
