import LabSupport
import MeasurementModel
import Testing

@testable import fieldprobe

/// Reports for people.
@Suite struct ReportShowTests {
    static let report = #"""
        {"schema":"fieldprobe/report/1","id":"ID","type":"WEB","subject":"website","client_uuid":"u-1","client_label":"van",
         "device":{"model":"Board","kernel":"Linux 6.1.0","architecture":"aarch64","os":"Debian"},
         "started_at":"2026-11-30T13:23:25.123Z","duration_ms":12345,"finished_reason":"completed",
         "target":{"host":"server.example","addresses":["192.0.2.80"],"known_from_offset_ms":12},
         "result":{"pages":[{"url":"https://server.example/","status":200,"http_version":"2","remote_address":"192.0.2.80","body_octets":5000,
           "phases_ms":{"name_lookup":1.25,"connect":20,"tls":30.5,"first_byte":40,"transfer":2},"at_ms":{"total":93.75},"duration_ms":93.8},
          {"url":"http://gone.example/","error":{"code":"connection_refused","message":"'gone.example' refused the connection"}}]},
         "connection_detail_trace":[
          {"client_time":"2026-11-30T13:23:25.200Z","offset_ms":77,"type":"wifi","interface":"wlan0","ip_address":"192.0.2.5","prefix_length":24,
           "gateway":"192.0.2.1","is_internet_reachable":true,"is_connection_expensive":false,"ssid":"Caf\u00e9","rssi":-61},
          {"client_time":"2026-11-30T13:23:30.000Z","offset_ms":4877,"type":"none","is_internet_reachable":false}],
         "geolocation_trace":[{"offset_ms":100,"latitude":51.4769,"longitude":0,"horizontal_accuracy":2.44},
          {"offset_ms":1100,"latitude":51.4779,"longitude":0,"horizontal_accuracy":2.5,"speed":11.12}],
         "thermal_trace":[],
         "collectors":[{"name":"connection-detail","version":"1.0","trace":"connection_detail_trace","state":"ok","recorded":2,"suppressed":7,
           "rejected":{"undeclared:x":1},"gaps":[{"from_offset_ms":1000,"to_offset_ms":2500,"reason":"event_loss"}],"resyncs":1,
           "provenance":{"ssid":"nl80211"},"withheld":["bssid"]},
          {"name":"thermal","version":"0.1","trace":"thermal_trace","state":"unavailable","reason":"no_hardware","recorded":0,"suppressed":0,"gaps":[],"resyncs":0}],
         "permissions":{"precise_location":true,"wifi_identity":true,"purpose":{"key":"drive","text":"T"}},
         "time":{"synchronised":true,"server_offset_ms":-250,"steps":[{"offset_ms":500,"size_ms":-2000}]}}
        """#

    @Test func golden() throws {
        let text = ReportView(try JSONValue(parsing: Self.report), style: Style(hasColour: false)).text
        let expected = """
            Test WEB/website, completed
              Report       ID
              Started      2026-11-30T13:23:25.123Z
              Duration     12.345 s
              Target       server.example (192.0.2.80)
              Client       van, u-1
              Device       Board, Debian, Linux 6.1.0, aarch64
              Clock        synchronised, server differs by -0.250 s, jumped by -2.000 s at 0.500 s
              Permissions  precise_location on, wifi_identity on, for the purpose drive

            Result
              URL                      STATUS  HTTP  ADDRESS     LOOKUP  CONNECT  TLS   FIRST BYTE  TRANSFER  TOTAL  OCTETS
              https://server.example/  200     2     192.0.2.80  1.3     20.0     30.5  40.0        2.0       93.8   5000
              http://gone.example/
              (milliseconds)
              error: 'gone.example' refused the connection

            connection_detail_trace
              OFFSET  TYPE  INTERFACE  ADDRESS       GATEWAY    REACHABLE  METERED  SSID  RSSI
              0.077   wifi  wlan0      192.0.2.5/24  192.0.2.1  yes        no       Café  -61
              4.877   none                                      no

            geolocation_trace
              OFFSET  LATITUDE    LONGITUDE  ACCURACY m  SPEED m/s
              0.100   51.4769000  0.0000000  2.4
              1.100   51.4779000  0.0000000  2.5         11.1
              Distance covered: 111 m

            thermal_trace
              no snapshots

            Collectors
              connection-detail 1.0: ok
                2 snapshots recorded, 7 readings without a change
                refused: undeclared:x (1)
                left out for want of a permission: bssid
                nothing seen from 1.000 to 2.500 s: the kernel dropped events
                asked again as a whole 1 times, after lost events
                known: ssid from nl80211
              thermal 0.1: unavailable, there is no such hardware
                0 snapshots recorded, 0 readings without a change

            """
        #expect(text == expected)
    }

    /// What comes from outside moves no cursor, sets no title and turns no line around.
    @Test func hostileTextIsEscaped() async throws {
        let hostile = "\\u001b[2J\\u0007\\u009b31m\\u202e\\r\\u0000x\\u2028"
        let text = Self.report.split(separator: "\"").joined(separator: "\"")
            .replacing("Caf\\u00e9", with: hostile).replacing("server.example/", with: "server.example/\(hostile)")
            .replacing("event_loss", with: "event\(hostile)").replacing("undeclared:x", with: hostile).replacing("van", with: hostile)
            .replacing("Board", with: hostile).replacing("thermal_trace", with: "\(hostile)_trace").replacing("drive", with: hostile)
            .replacing("\"id\":\"ID\"", with: "\"id\":\"\(hostile)\"").replacing("refused the connection", with: hostile)
            .replacing("nl80211", with: hostile).replacing("\"none\"", with: "\"\(hostile)\"")
        let folder = try TemporaryFolder()
        let outcome = try await Program.run("report", "show", try folder.write("r.json", text))
        #expect(outcome.status == 0)
        let forbidden = outcome.output.unicodeScalars.filter { scalar in
            scalar != "\n"
                && (scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format || scalar == "\u{2028}")
        }
        #expect(forbidden.isEmpty)
        #expect(outcome.output.contains("\\u{1b}[2J\\u{7}\\u{9b}31m\\u{202e}"))
        let command = """
            {"schema":"fieldprobe/report/1","type":"N","subject":"s","result":{"command":"c","exit_status":0,"output_text":"one\\n\(hostile)"}}
            """
        let shown = try await Program.run("report", "show", try folder.write("c.json", command))
        #expect(!shown.output.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{9B}" || $0 == "\r" })
        #expect(shown.output.contains("  | one\n  | \\u{1b}[2J"))
    }

    @Test func filesThatAreNoReports() async throws {
        let folder = try TemporaryFolder()
        let good = try folder.write("good.json", Self.report)
        let bad = try folder.write("bad.json", "{\"schema\": 5")
        let other = try folder.write("other.json", "{\"schema\":\"else\"}")
        let outcome = try await Program.run("report", "show", bad, good, other, "/nonexistent")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Test WEB/website"))
        #expect(outcome.errors.contains("bad.json: not JSON at octet"))
        #expect(outcome.errors.contains("other.json: this is no report"))
        #expect(outcome.errors.contains("/nonexistent: No such file or directory"))
        #expect(try await Program.shell("\"$0\" report show - < \(good)").output.contains("Test WEB/website"))
        #expect(try await Program.run("report", "show", "--json", good).json == JSONValue(parsing: Self.report))
    }

    /// Whatever stands in a report, showing it is no fault of the program.
    @Test func oddReports() throws {
        for text in [
            "{}", "[]", "5", #"{"collectors":5,"x_trace":{"a":1},"geolocation_trace":[1,"a",{}],"result":[],"time":[],"permissions":0}"#,
            #"{"duration_ms":-5,"result":{"pages":[1,{}]},"collectors":[{}],"geolocation_trace":[{"latitude":1e400,"longitude":"x"}]}"#,
        ] {
            #expect(!ReportView(try JSONValue(parsing: text), style: Style(hasColour: true)).text.isEmpty)
        }
        let long = JSONValue.object([
            "geolocation_trace": .array(
                (0..<1000).map { .object(["offset_ms": .integer($0), "latitude": .integer(1), "longitude": .integer(2)]) })
        ])
        let shown = ReportView(long, style: Style(hasColour: false)).text
        #expect(shown.contains("(1000 snapshots)"))
        #expect(shown.split(separator: "\n").count < 80)
    }

    @Test func distancesOnTheSphere() {
        #expect(abs(TraceView.greatCircle((0, 0), (0, 180)) - 20_015_114) < 100)
        #expect(abs(TraceView.greatCircle((0, 179.5), (0, -179.5)) - 111_195) < 10)
        #expect(TraceView.greatCircle((51, 0), (51, 0)) == 0)
    }

    @Test func numbers() {
        #expect(Numbers.seconds(5) == "0.005")
        #expect(Numbers.seconds(-1500) == "-1.500")
        #expect(Numbers.fixed(1.005, 1) == "1.0")
        #expect(Numbers.fixed(-0.04, 1) == "0.0")
        #expect(Numbers.fixed(12.96, 1) == "13.0")
        #expect(Numbers.fixed(7, 0) == "7")
        for decimals in 0...7 {
            for value in [1e14, -1e14, 9.1e15, 1e300, .infinity, .nan, .greatestFiniteMagnitude] { _ = Numbers.fixed(value, decimals) }
        }
        #expect(Numbers.fixed(1e14, 7, else: "1e14") == "1e14")
    }

    @Test func numbersThatAreNone() throws {
        for number in [
            "1e14", "-1e14", "1e300", "1e999", "-1e999", "9223372036854775807", "-9223372036854775808", "1e-400", "12345678901234567890",
        ] {
            let report = Self.report.replacing("51.4769", with: number).replacing("12345,", with: number + ",").replacing(
                "2.44", with: number
            )
            .replacing("4877", with: number).replacing("93.75", with: number).replacing("-250", with: number)
            .replacing(#""resyncs":1"#, with: #""gaps_not_listed":\#(number),"resyncs":\#(number)"#)
            let text = ReportView(try JSONValue(parsing: report), style: Style(hasColour: false)).text
            if number == "1e14" { #expect(text.contains("  1e14  ")) }
        }
    }
}
