@testable import Geolocation
import MeasurementModel
import Testing

/// What one report must say to be a valid, precise fix.
@Suite struct FixRuleTests {
    private let rule = FixRule(maximumError95: 100, acceptsSimulated: false)

    private func refusal(_ tpv: TPV, _ rule: FixRule? = nil) -> Refusal? {
        if case .failure(let refusal) = (rule ?? self.rule).judge(tpv) { refusal } else { nil }
    }

    @Test(
        "only the mode says that there is a fix: status 0, 1, 2 or none makes no difference (P63)",
        arguments: [nil, 0, 1, 2, 3, 4, 6, 9, 42])
    func modeDecides(_ status: Int?) {
        for mode in [2, 3] { #expect(refusal(.full().with { ($0.mode, $0.status) = (mode, status) }) == nil) }
        for mode in [nil, 0, 1] { #expect(refusal(.full().with { ($0.mode, $0.status) = (mode, status) }) == .noFix) }
    }

    @Test("guesses and inventions are no fixes", arguments: [(5, Refusal.deadReckoning), (7, .surveyed), (8, .simulated)])
    func statusRefused(_ status: Int, _ expected: Refusal) { #expect(refusal(.full().with { $0.status = status }) == expected) }

    @Test("a simulated fix is let in by a switch, and nothing else is")
    func simulated() {
        let lenient = FixRule(maximumError95: 100, acceptsSimulated: true)
        #expect(refusal(.full().with { $0.status = 8 }, lenient) == nil)
        #expect(refusal(.full().with { $0.status = 5 }, lenient) == .deadReckoning)
    }

    @Test("the equator and the zero meridian are places, their crossing is a fault (R-22, P54)")
    func zero() {
        #expect(refusal(.full(0, 11)) == nil)
        #expect(refusal(.full(-0.0, 11)) == nil)
        #expect(refusal(.full(48, 0)) == nil)
        #expect(refusal(.full(0, 0)) == .nullIsland)
        #expect(refusal(.full(-0.0, 0)) == .nullIsland)
        #expect(refusal(.full(0, 1e-9)) == nil)
    }

    @Test(
        "coordinates are there and on the earth",
        arguments: [
            (90.0, 180.0, nil), (-90, -180, nil), (90.0001, 11, Refusal.outOfRange), (-90.0001, 11, .outOfRange),
            (48, 180.0001, .outOfRange),
            (48, -180.5, .outOfRange), (.nan, 11, .noCoordinates), (48, .infinity, .noCoordinates),
        ])
    func range(_ latitude: Double, _ longitude: Double, _ expected: Refusal?) { #expect(refusal(.full(latitude, longitude)) == expected) }

    @Test("mode 3 without coordinates is no fix (P54)")
    func noCoordinates() {
        #expect(refusal(.full().with { $0.latitude = nil }) == .noCoordinates)
        #expect(refusal(.full().with { $0.longitude = nil }) == .noCoordinates)
    }

    @Test(
        "an unknown error is no small error (R-21)",
        arguments: [
            (nil, nil, nil, Refusal.accuracyUnknown), (0, nil, nil, .accuracyUnknown), (0, 3, 4, .accuracyUnknown),
            (-1, 3, 4, .accuracyUnknown),
            (nil, 3, nil, .accuracyUnknown), (nil, nil, 4, .accuracyUnknown), (nil, 0, 0, .accuracyUnknown), (nil, -3, 4, .accuracyUnknown),
            (nil, 3, 4, nil), (nil, 0, 4, nil), (nil, 80, 80, .inaccurate), (100, nil, nil, nil), (100.01, nil, nil, .inaccurate),
            (0.45, nil, nil, nil),
        ] as [(Double?, Double?, Double?, Refusal?)])
    func accuracy(_ eph: Double?, _ epx: Double?, _ epy: Double?, _ expected: Refusal?) {
        #expect(refusal(.full().with { ($0.eph, $0.epx, $0.epy) = (eph, epx, epy) }) == expected)
    }

    @Test("without eph, the error is that of both axes")
    func bothAxes() throws {
        #expect(try rule.judge(.full().with { ($0.eph, $0.epx, $0.epy) = (nil, 3, 4) }).get().error95 == 5)
    }

    @Test("an RTK fix passes whatever gpsd's model says, but not without any error")
    func rtk() {
        #expect(refusal(.full().with { ($0.status, $0.eph) = (3, 150) }) == nil)
        #expect(refusal(.full().with { ($0.status, $0.eph) = (4, 150) }) == .inaccurate)
        #expect(refusal(.full().with { ($0.status, $0.eph) = (3, nil) }) == .accuracyUnknown)
    }

    @Test("the limit is a setting")
    func limit() { #expect(refusal(.full().with { $0.eph = 19 }, FixRule(maximumError95: 18, acceptsSimulated: false)) == .inaccurate) }

    @Test("only class, mode, position and an error are needed (P51, P59)")
    func bareReport() {
        var tpv = TPV()
        (tpv.mode, tpv.latitude, tpv.longitude, tpv.eph) = (2, 48, 11, 10)
        #expect(refusal(tpv) == nil)
    }
}
