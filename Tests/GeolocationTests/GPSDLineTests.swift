@testable import Geolocation
import MeasurementModel
import Testing

/// The decoder on lines as gpsd and hostile peers send them. Covers R-8, R-22.
@Suite struct GPSDLineTests {
    /// As gpsd 3.22 sent it, the position moved.
    static let recorded =
        #"{"class":"TPV","device":"/dev/ttyACM0","status":2,"mode":3,"time":"2026-11-30T13:50:22.200Z","leapseconds":18,"ept":0.005,"#
        + #""lat":48.000000123,"lon":-11.000026883,"altHAE":560.1250,"altMSL":520.5000,"alt":520.5000,"epx":2.25,"epy":3.5,"epv":27.600,"#
        + #""track":90.0000,"magtrack":93.1992,"magvar":3.2,"speed":5.000,"climb":0.1,"eps":0.4,"epc":1.1,"geoidSep":39.625,"#
        + #""eph":17.100,"sep":26.600,"ecefx":1.0,"epd":3.25}"# + "\r"

    private func tpv(_ text: String) -> TPV? {
        if case .tpv(let tpv)? = GPSDLine(octets: text.utf8) { tpv } else { nil }
    }

    /// A TPV with one more member.
    private func tpv(with member: String) -> TPV? { tpv(#"{"class":"TPV","device":"/dev/a","mode":3,\#(member)}"#) }

    @Test("a recorded TPV, every value at the receiver's precision (R-22)")
    func recordedTPV() throws {
        let tpv = try #require(self.tpv(Self.recorded))
        #expect(tpv.device == "/dev/ttyACM0" && tpv.mode == 3 && tpv.status == 2 && tpv.leapSeconds == 18)
        #expect(tpv.time?.description == "2026-11-30T13:50:22.200Z")
        #expect(tpv.latitude == 48.000000123 && tpv.longitude == -11.000026883)
        #expect(tpv.altitudeHAE == 560.125 && tpv.altitudeMSL == 520.5)
        #expect(tpv.speed == 5 && tpv.track == 90)
        #expect([tpv.eph, tpv.epx, tpv.epy, tpv.epv, tpv.eps, tpv.epd] == [17.1, 2.25, 3.5, 27.6, 0.4, 3.25])
    }

    @Test("gpsd's older alt is no altitude (P62)")
    func oldAltitude() throws {
        let tpv = try #require(self.tpv(with: #""alt":520.5"#))
        #expect(tpv.altitudeMSL == nil && tpv.altitudeHAE == nil)
    }

    @Test(
        "a line that is not JSON is none, whatever libgps makes of it (P58)",
        arguments: ["NaN", "-nan", "nan", "Infinity", "-inf", "0x10", "01", "+1", ".5", "1.", "1e", "--1", "1,5"])
    func notJSON(_ number: String) {
        #expect(GPSDLine(octets: #"{"class":"TPV","mode":3,"lat":\#(number),"lon":11}"#.utf8) == nil)
    }

    @Test(
        "a value of the wrong type is as absent (P58, P61)",
        arguments: [
            #""48.5""#, #""nan""#, #""NaN""#, "1e999", "-1e999", "null", "true", "[48]", #"{"value":48}"#,
        ])
    func wrongType(_ value: String) throws {
        let tpv = try #require(self.tpv(with: #""lat":\#(value),"lon":11,"eph":\#(value),"altHAE":\#(value)"#))
        #expect(tpv.latitude == nil && tpv.eph == nil && tpv.altitudeHAE == nil)
        #expect(tpv.longitude == 11)
    }

    @Test(
        "integers, fractions and exponents are one kind of number (P61)",
        arguments: [
            ("48", 48.0), ("48.0", 48), ("4.8e1", 48), ("480E-1", 48), ("0", 0), ("-0", 0), ("1e-300", 1e-300),
        ])
    func numbers(_ text: String, _ value: Double) throws {
        #expect(try #require(tpv(with: #""lat":\#(text)"#)).latitude == value)
    }

    @Test(
        "the mode is a whole number from 0 to 3, or absent",
        arguments: [
            ("3", 3), ("3.0", 3), ("0", 0), ("4", nil), ("-1", nil), ("2.5", nil), (#""3""#, nil), ("null", nil),
            ("99999999999999999999", nil),
        ])
    func modes(_ text: String, _ mode: Int?) throws {
        let tpv = try #require(self.tpv(#"{"class":"TPV","mode":\#(text)}"#))
        #expect(tpv.mode == mode)
    }

    @Test(
        "times: fractions, second 60, garbage, none (P51, P59)",
        arguments: [
            (#""2026-11-30T13:50:22Z""#, "2026-11-30T13:50:22.000Z"), (#""2026-11-30T13:50:22.123456Z""#, "2026-11-30T13:50:22.123Z"),
            (#""2016-12-31T23:59:60.500Z""#, "2017-01-01T00:00:00.500Z"), (#""garbage""#, nil), (#""""#, nil), ("1480000000.5", nil),
            (#""2026-02-31T00:00:00Z""#, nil), (#""2026-11-30T13:50:22""#, nil), (#""2026-11-30T25:00:00Z""#, nil), ("null", nil),
        ])
    func times(_ text: String, _ time: String?) throws {
        #expect(try #require(tpv(with: #""time":\#(text)"#)).time?.description == time)
    }

    @Test("a line cut anywhere is none")
    func truncated() {
        let octets = Array(Self.recorded.utf8.dropLast())
        #expect((0..<octets.count).allSatisfy { GPSDLine(octets: octets[..<$0]) == nil })
        #expect(GPSDLine(octets: octets) != nil)
    }

    @Test("any octet replaced never crashes, and never invents a fix")
    func mutated() throws {
        let octets = Array(Self.recorded.utf8)
        for index in octets.indices {
            for replacement: UInt8 in [0, 0x22, 0x2C, 0x39, 0x7B, 0x7D, 0x80, 0xFF] {
                var copy = octets
                copy[index] = replacement
                if case .tpv(let tpv)? = GPSDLine(octets: copy), let latitude = tpv.latitude { #expect(latitude.isFinite) }
            }
        }
    }

    @Test("two documents in a line, or anything after the object, are none")
    func trailing() {
        #expect(GPSDLine(octets: (#"{"class":"TPV","mode":3}"# + #"{"class":"TPV","mode":3}"#).utf8) == nil)
        #expect(GPSDLine(octets: (#"{"class":"TPV","mode":3} x"#).utf8) == nil)
        #expect(GPSDLine(octets: (#"{"class":"TPV","mode":3,}"#).utf8) == nil)
    }

    @Test(
        "the class comes first and is text",
        arguments: [
            #"{"mode":3,"class":"TPV"}"#, #"{"class":3}"#, #"{"class":null}"#, "{}", "[]", #""TPV""#, "3", "", "?WATCH={};", "$GPGGA,1*00",
        ])
    func classFirst(_ text: String) { #expect(GPSDLine(octets: text.utf8) == nil) }

    @Test("of a repeated member the last one holds")
    func duplicates() throws {
        #expect(try #require(tpv(with: #""lat":1,"lat":2"#)).latitude == 2)
        #expect(try #require(tpv(with: #""lat":1,"lat":"x""#)).latitude == nil)
    }

    @Test("unknown members, nested or not, hide nothing behind them (P61)")
    func unknownMembers() throws {
        let tpv = try #require(self.tpv(with: #""new":{"a":[1,{"b":null}]},"list":[1,2,[3]],"text":"\u00e4\n","lat":48,"lon":11,"eph":5"#))
        #expect(tpv.latitude == 48 && tpv.eph == 5)
    }

    @Test(
        "unknown classes are well formed and nothing else (P61)",
        arguments: ["SKY", "GST", "PPS", "TOFF", "OSC", "ATT", "SUBFRAME", "tpv", "ÄÖ"])
    func unknownClasses(_ name: String) { #expect(GPSDLine(octets: #"{"class":"\#(name)","satellites":[{"PRN":1}]}"#.utf8) == .other) }

    @Test("lines of 66 kB and 1 MiB, and nesting without end (P60)")
    func longLines() throws {
        for size in [66_000, 1 << 20] {
            let padding = String(repeating: "x", count: size)
            #expect(try #require(tpv(with: #""pad":"\#(padding)","lat":48"#)).latitude == 48)
            #expect(GPSDLine(octets: padding.utf8) == nil)
        }
        #expect(GPSDLine(octets: (#"{"class":"SKY","x":"# + String(repeating: "[", count: 100_000)).utf8) == nil)
    }

    @Test("a device's name has a length, and is not empty")
    func deviceNames() throws {
        #expect(try #require(tpv(#"{"class":"TPV","device":""}"#)).device == nil)
        #expect(try #require(tpv(#"{"class":"TPV","device":"\#(String(repeating: "d", count: 5000))"}"#)).device == nil)
    }

    @Test("the lines about receivers and about gpsd itself")
    func otherLines() {
        #expect(GPSDLine(octets: #"{"class":"VERSION","release":"3.22","proto_major":16}"#.utf8) == .version(release: "3.22"))
        #expect(GPSDLine(octets: #"{"class":"WATCH","enable":true}"#.utf8) == .watch)
        #expect(GPSDLine(octets: #"{"class":"ERROR","message":"No such device"}"#.utf8) == .error)
        #expect(GPSDLine(octets: #"{"class":"DEVICES","devices":[]}"#.utf8) == .devices([]))
        #expect(GPSDLine(octets: #"{"class":"DEVICES"}"#.utf8) == .devices([]))
        let two =
            #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a","activated":"2026-11-30T00:00:00Z"},{"path":"/dev/b"},7]}"#
        #expect(GPSDLine(octets: two.utf8) == .devices([.init(path: "/dev/a", isActive: true), .init(path: "/dev/b", isActive: true)]))
        #expect(
            GPSDLine(octets: #"{"class":"DEVICE","path":"/dev/a","activated":0}"#.utf8) == .device(.init(path: "/dev/a", isActive: false)))
    }
}
