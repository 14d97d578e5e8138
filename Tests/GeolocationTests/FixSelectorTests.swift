@testable import Geolocation
import MeasurementModel
import Testing

/// One fix for each moment, of one receiver, and never an old one.
@Suite struct FixSelectorTests {
    private func moving(_ second: Double, device: String = "/dev/a") -> TPV {
        TPV.full(48 + second * 1e-4, device: device).with { $0.time = noon(second) }
    }

    @Test("a fix each second is taken each second, stamped with its arrival (R-20)")
    func stream() {
        var bench = SelectorBench()
        let taken = bench.stream(from: 0, through: 9) { moving($0) }.taken
        #expect(taken.count == 10)
        #expect(taken.map(\.arrival.instant) == (0..<10).map { at(Double($0)) })
        #expect(taken.map(\.fix.latitude) == (0..<10).map { 48 + Double($0) * 1e-4 })
    }

    @Test("ten fixes a second are taken ten times a second, without waiting for the settling time")
    func tenHertz() {
        var bench = SelectorBench()
        var outcomes: [FixSelector.Outcome] = []
        for tenth in 0..<50 {
            let second = Double(tenth) / 10
            outcomes += bench.receive(moving(second), at: second)
        }
        #expect(outcomes.taken.count == 50 && outcomes.refusals.isEmpty)
    }

    @Test("the reports about one moment become one fix, the fullest and latest (R-23)")
    func oneForEachMoment() throws {
        var bench = SelectorBench()
        let bare = TPV.full(48).with { ($0.altitudeMSL, $0.altitudeHAE, $0.track, $0.epd) = (nil, nil, nil, nil) }
        #expect(bench.receive(bare, at: 0).isEmpty)
        #expect(bench.receive(.full(48.0001), at: 0.05).isEmpty)
        #expect(bench.receive(bare, at: 0.1).isEmpty)
        let taken = bench.settle(at: 0.3).taken
        #expect(taken.count == 1)
        let only = try #require(taken.first)
        #expect(only.fix.latitude == 48.0001 && only.fix.tpv.altitudeMSL == 520 && only.arrival.instant == at(0))
    }

    @Test("a receiver that gives one report a moment is soon taken at its word, without waiting for more")
    func habit() {
        var bench = SelectorBench()
        for second in 0..<6 {
            _ = bench.receive(moving(Double(second)), at: Double(second))
            _ = bench.settle(at: Double(second) + 0.3)
        }
        // At once, and only the one.
        #expect(bench.receive(moving(6), at: 6).taken.count == 1)
        #expect(bench.settle(at: 6.3).isEmpty)
        // Less than usual may be the first half: it is waited for.
        let bare = moving(7).with { ($0.altitudeMSL, $0.track) = (nil, nil) }
        #expect(bench.receive(bare, at: 7).isEmpty)
        #expect(bench.receive(moving(7), at: 7.1).isEmpty)
        #expect(bench.settle(at: 7.3).taken.map(\.fix.tpv.altitudeMSL) == [520])
        // Two reports about a moment: the habit is over.
        #expect(bench.receive(moving(8), at: 8).isEmpty)
        #expect(bench.settle(at: 8.3).taken.count == 1)
    }

    @Test("a second report about a moment that was thought complete is a repeat, and the next moments are waited for again")
    func habitBroken() {
        var bench = SelectorBench()
        for second in 0..<6 {
            _ = bench.receive(moving(Double(second)), at: Double(second))
            _ = bench.settle(at: Double(second) + 0.3)
        }
        #expect(bench.receive(moving(6), at: 6).taken.count == 1)
        #expect(bench.receive(moving(6), at: 6.1).refusals == [.repeated])
        #expect(bench.receive(moving(7), at: 7).isEmpty)
        #expect(bench.settle(at: 7.3).taken.count == 1)
    }

    @Test("nothing is carried over from one report to the next (P56)")
    func noMerging() throws {
        var bench = SelectorBench()
        _ = bench.receive(moving(0), at: 0)
        let bare = moving(1).with { ($0.altitudeMSL, $0.altitudeHAE, $0.speed, $0.track) = (nil, nil, nil, nil) }
        let second = try #require((bench.receive(bare, at: 1) + bench.settle(at: 1.3)).taken.last)
        #expect(second.fix.tpv == bare)
    }

    @Test("reports without a time: those of one start are one, later ones are new (P51, P59)")
    func untimed() {
        var bench = SelectorBench()
        let report = TPV.full(time: nil)
        #expect(bench.receive(report, report, at: 0).isEmpty)
        #expect(bench.receive(report, at: 0.001).isEmpty)
        #expect(bench.settle(at: 0.4).taken.count == 1)
        #expect(bench.stream(from: 1, through: 5) { .full(48 + $0 * 1e-3, time: nil) }.taken.count == 5)
    }

    @Test("the first reports of a start have no time, and belong to the one that has")
    func untimedThenTimed() throws {
        var bench = SelectorBench()
        _ = bench.receive(.full(time: nil), at: 0)
        let outcomes = bench.receive(.full(), at: 0.1) + bench.settle(at: 0.3)
        #expect(outcomes.taken.count == 1 && outcomes.taken[0].fix.tpv.time == noon(0))
        #expect(bench.receive(.full(), at: 0.5).refusals == [.repeated])
    }

    @Test("the same moment again is not new, for as long as it is repeated (P52)")
    func repeated() {
        var bench = SelectorBench()
        let outcomes = bench.stream(from: 0, through: 60) { .full(48 + $0 * 1e-3) }
        #expect(outcomes.taken.count == 1)
        #expect(outcomes.refusals == Array(repeating: .repeated, count: 60))
    }

    @Test("mode 1, 3, 1, 3 with a move: the fixes and nothing between them (P55, P56)")
    func losses() {
        var bench = SelectorBench()
        var outcomes = bench.receive(.lost(), at: 0)
        outcomes += bench.receive(moving(1), at: 1)
        outcomes += bench.receive(.lost(time: "2026-11-30T12:00:02Z"), at: 2)
        // A report of mode 1 that still carries the old position.
        outcomes += bench.receive(moving(3).with { $0.mode = 1 }, at: 3)
        outcomes += bench.receive(.lost().with { ($0.latitude, $0.longitude) = (0, 0) }, at: 4)
        outcomes += bench.receive(moving(5), at: 5) + bench.settle(at: 6)
        #expect(outcomes.taken.map(\.fix.latitude) == [moving(1), moving(5)].map(\.latitude))
        #expect(outcomes.refusals == [.noFix, .noFix, .noFix, .noFix])
    }

    @Test("a fix that was waiting when the loss came is given, once")
    func lossWhileSettling() {
        var bench = SelectorBench()
        #expect(bench.receive(moving(0), at: 0).isEmpty)
        let outcomes = bench.receive(.lost(), at: 0.1)
        #expect(outcomes.taken.count == 1 && outcomes.refusals == [.noFix])
        #expect(bench.settle(at: 5).isEmpty)
    }

    // MARK: The receiver's time

    @Test("a small step back is dropped, and believed once it lasts")
    func smallStepBack() {
        var bench = SelectorBench()
        #expect(bench.stream(from: 0, through: 2) { moving($0) }.taken.count == 3)
        #expect(bench.receive(moving(1.7), at: 3).refusals == [.timeBackwards])
        #expect(bench.stream(from: 4, through: 5) { moving($0) }.taken.count == 2)
        // Thirteen seconds back, and on from there: two are doubted.
        let outcomes = bench.stream(from: 6, through: 12) { moving($0).with { $0.time = noon(-10 + $0.time!.seconds) } }
        #expect(outcomes.refusals == [.timeBackwards, .timeBackwards])
        #expect(outcomes.taken.count == 5 && outcomes.taken.allSatisfy { $0.isTimeTrusted == true })
    }

    @Test(
        "a step back of a day or of 1024 weeks costs no fix, and the receiver's date is not trusted from then on (R-23, P68)",
        arguments: [
            86_399.5, 86_400, 619_315_200,
        ])
    func dateFault(_ step: Double) {
        var bench = SelectorBench()
        #expect(bench.stream(from: 0, through: 2) { moving($0) }.taken.allSatisfy { $0.isTimeTrusted == true })
        let outcomes = bench.stream(from: 3, through: 9) { moving($0).with { $0.time = noon($0.time!.seconds - step) } }
        #expect(outcomes.taken.count == 7 && outcomes.refusals.isEmpty)
        #expect(outcomes.taken.allSatisfy { $0.isTimeTrusted == false })
        // Back in the right year it is still a receiver that was wrong.
        let later = bench.stream(from: 10, through: 12) { moving($0) }
        #expect(later.taken.count == 3 && later.taken.allSatisfy { $0.isTimeTrusted == false })
    }

    @Test("a receiver that changes between two dates with every report keeps every position (P68)")
    func alternating() {
        var bench = SelectorBench()
        let outcomes = bench.stream(from: 0, through: 19) { second in
            moving(second).with { if Int(second) % 2 == 1 { $0.time = noon(second - 619_315_200) } }
        }
        #expect(outcomes.taken.count == 20 && outcomes.refusals.isEmpty)
    }

    @Test(
        "a date that cannot be true is flagged, and the position kept (R-23, P68)",
        arguments: [
            ("2000-03-22T00:00:00Z", nil), ("2000-03-22T00:00:00Z", 17), ("2038-01-19T00:00:00Z", 18), ("1999-08-22T00:00:00Z", nil),
        ])
    func implausibleDate(_ time: String, _ leapSeconds: Int?) {
        var bench = SelectorBench()
        let start = Timestamp(iso8601: time)!
        let outcomes = bench.stream(from: 0, through: 4) { second in
            moving(second).with { ($0.time, $0.leapSeconds) = (start.adding(milliseconds: Int64(second * 1000)), leapSeconds) }
        }
        #expect(outcomes.taken.count == 5 && outcomes.taken.allSatisfy { $0.isTimeTrusted == false })
    }

    @Test("a machine without a clock does not judge the receiver's date, but no date before this software is believed")
    func noClock() {
        var bench = SelectorBench()
        bench.wall = Timestamp(milliseconds: 0)
        #expect(bench.stream(from: 0, through: 2) { moving($0) }.taken.allSatisfy { $0.isTimeTrusted == true })
        let old = bench.stream(from: 3, through: 4) { second in
            moving(second).with { $0.time = $0.time!.adding(milliseconds: -619_315_200_000) }
        }
        #expect(old.taken.allSatisfy { $0.isTimeTrusted == false })
    }

    @Test("UTC is known with the leap seconds, or after three 3D fixes")
    func utc() {
        var bench = SelectorBench()
        #expect(bench.stream(from: 0, through: 3) { moving($0) }.taken.map(\.isUTCVerified) == [false, false, true, true])
        var other = SelectorBench()
        #expect(other.stream(from: 0, through: 0) { moving($0).with { $0.leapSeconds = 18 } }.taken.map(\.isUTCVerified) == [true])
    }
}

extension Timestamp {
    /// Since noon of the tests' day.
    var seconds: Double { Double(milliseconds - noon(0).milliseconds) / 1000 }
}
