import CollectorCore
@testable import Geolocation
import MeasurementModel
import Testing

/// The values of the trace and their declarations.
@Suite struct FixFieldsTests {
    private func values(
        _ tpv: TPV, trusted: Bool? = true, utc: Bool = true, synchronised: Bool = true, wall: Timestamp = noon(0.25)
    ) throws -> [String: FieldValue] {
        let fix = try FixRule(maximumError95: 100, acceptsSimulated: true).judge(tpv).get()
        return FixFields.values(
            FixSelector.Selection(
                fix: fix, arrival: Arrival(instant: at(0), wall: wall, isClockSynchronised: synchronised),
                isTimeTrusted: tpv.time == nil ? nil : trusted, isUTCVerified: utc))
    }

    @Test("a full 3D fix has every field (R-22)")
    func full() throws {
        let values = try values(.full(48.000000123, -11.5).with { $0.status = 2 })
        #expect(
            values == [
                "latitude": .number(48.000000123), "longitude": .number(-11.5), "horizontal_accuracy_95": .number(10),
                "horizontal_accuracy": .number(6.167), "altitude": .number(520), "ellipsoidal_altitude": .number(560),
                "vertical_accuracy": .number(10.204), "speed": .number(5), "speed_accuracy": .number(1.02), "course": .number(90),
                "course_accuracy": .number(2.041), "fix_mode": .integer(3), "fix_status": .text("dgps"), "device": .text("/dev/a"),
                "gps_time": .text("2026-11-30T12:00:00.000Z"), "gps_time_trusted": .bool(true), "age_ms": .integer(250),
            ])
    }

    @Test("a 2D fix has no altitude, even if gpsd gives one")
    func twoDimensional() throws {
        let values = try values(.full().with { $0.mode = 2 })
        #expect(values["altitude"] == nil && values["ellipsoidal_altitude"] == nil && values["vertical_accuracy"] == nil)
        #expect(values["fix_mode"] == .integer(2))
    }

    @Test("what is not known is left out, never zero (R-8)")
    func bare() throws {
        var tpv = TPV()
        (tpv.mode, tpv.latitude, tpv.longitude, tpv.eph) = (3, 48, 11, 10)
        #expect(Set(try values(tpv).keys) == ["latitude", "longitude", "horizontal_accuracy", "horizontal_accuracy_95", "fix_mode"])
    }

    @Test("errors of zero are unknown; an accuracy without its value is none")
    func accuracies() throws {
        let zero = try values(.full().with { ($0.epv, $0.eps, $0.epd) = (0, 0, -1) })
        for name in ["vertical_accuracy", "speed_accuracy", "course_accuracy"] { #expect(zero[name] == nil) }
        let alone = try values(.full().with { ($0.altitudeMSL, $0.altitudeHAE, $0.speed, $0.track) = (nil, nil, nil, nil) })
        for name in ["vertical_accuracy", "speed_accuracy", "course_accuracy"] { #expect(alone[name] == nil) }
        #expect(try values(.full().with { $0.altitudeMSL = nil })["vertical_accuracy"] != nil)
    }

    @Test("courses are in [0, 360), speeds are not negative", arguments: [(360.0, 0.0), (0, 0), (359.9, 359.9), (360.1, nil), (-1, nil)])
    func courses(_ track: Double, _ course: Double?) throws {
        #expect(try values(.full().with { $0.track = track })["course"] == course.map(FieldValue.number))
        #expect(try values(.full().with { $0.speed = -1 })["speed"] == nil)
    }

    @Test(
        "statuses by gpsd's numbers",
        arguments: [
            (nil, nil), (0, nil), (1, "gps"), (2, "dgps"), (3, "rtk_fixed"), (4, "rtk_float"), (6, "gnss_dead_reckoning"), (8, "simulated"),
            (42, nil),
        ] as [(Int?, String?)])
    func statuses(_ status: Int?, _ word: String?) throws {
        #expect(try values(.full().with { $0.status = status })["fix_status"] == word.map(FieldValue.text))
    }

    @Test("an age only where both clocks can be believed (R-8, R-23)")
    func age() throws {
        #expect(try values(.full(), trusted: false)["age_ms"] == nil)
        #expect(try values(.full(), utc: false)["age_ms"] == nil)
        #expect(try values(.full(), synchronised: false)["age_ms"] == nil)
        #expect(try values(.full(), wall: noon(-0.1))["age_ms"] == nil)
        #expect(try values(.full(), wall: noon(11))["age_ms"] == nil)
        #expect(try values(.full(time: nil))["age_ms"] == nil)
        let rolledOver = try values(.full(), trusted: false)
        #expect(rolledOver["gps_time_trusted"] == .bool(false) && rolledOver["gps_time"] != nil)
    }

    @Test("every field is declared with its privacy, and needs the permission (R-25, R-26)")
    func declarations() throws {
        let descriptor = GeolocationCollector().descriptor
        #expect(descriptor.problem == nil && descriptor.requires == [.preciseLocation])
        #expect(descriptor.fields.allSatisfy { $0.permission == .preciseLocation && !$0.about.isEmpty })
        let declared = Dictionary(uniqueKeysWithValues: descriptor.fields.map { ($0.name, $0) })
        for (name, value) in try values(.full().with { $0.status = 2 }) { #expect(declared[name]?.type.admits(value) == true) }
        for name in ["latitude", "longitude", "altitude", "ellipsoidal_altitude", "speed", "course"] {
            #expect(declared[name]?.privacy == .preciseLocation)
        }
        #expect(declared["device"]?.privacy == .deviceIdentifier)
    }

    @Test("distances by WGS 84, across the antimeridian and to the other side of the earth (R-20)")
    func distances() {
        let distance = GeolocationFields.distance
        #expect(distance((48, 11), (48, 11)) == 0)
        #expect((1.05...1.2).contains(distance((48, 11), (48.00001, 11))))
        #expect(distance((0, 179.99999), (0, -179.99999)) < 3)
        #expect(distance((0, 0), (0, 180)) > 1e7)
    }
}
