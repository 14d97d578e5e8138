import CollectorCore
@testable import Geolocation
import MeasurementModel
import Testing

/// Gaps and states out of what is seen. Covers, P47, P52, P53.
@Suite struct ReceptionTests {
    /// Changes as text: `+` begins, `-` ends.
    private func text(_ changes: [Reception.Change]) -> [String] {
        changes.map { change in
            switch change {
            case .began(let obstacle, let instant, _): "+\(obstacle.rawValue)@\(seconds(instant))"
            case .ended(let obstacle, let instant): "-\(obstacle.rawValue)@\(seconds(instant))"
            }
        }
    }

    private func seconds(_ instant: MonotonicInstant) -> Double { (instant - at(0)).inSeconds }

    private func connected() -> Reception {
        var reception = Reception(startedAt: at(0), silence: .seconds(5))
        _ = reception.connected(at: at(0))
        return reception
    }

    @Test("a gpsd that never was there is away from the test's start")
    func neverThere() {
        var reception = Reception(startedAt: at(0), silence: .seconds(5))
        #expect(text(reception.lost(at: at(3), detail: "refused")) == ["+gpsd_away@0.0"])
        #expect(text(reception.lost(at: at(4), detail: "refused")) == [])
        #expect(reception.obstacle?.state.word == "no_daemon" && reception.detail == "refused" && reception.deadline == nil)
        #expect(text(reception.connected(at: at(9))) == ["-gpsd_away@9.0"])
    }

    @Test("a gpsd that goes takes everything else with it (P47)")
    func restart() {
        var reception = connected()
        _ = reception.taken(reportedAt: at(1), at: at(1))
        _ = reception.refused(.noFix, at: at(2))
        #expect(text(reception.lost(at: at(3), detail: "eof")) == ["-no_fix@3.0", "+gpsd_away@3.0"])
        #expect(text(reception.connected(at: at(4))) == ["-gpsd_away@4.0"])
        #expect(text(reception.tick(at: at(8.9))) == [])
        #expect(text(reception.tick(at: at(9))) == ["+receiver_silent@4.0"])
    }

    @Test("no report for five seconds is a gap from the last one on (P52, P53)")
    func silence() {
        var reception = connected()
        _ = reception.taken(reportedAt: at(10), at: at(10.3))
        #expect(reception.deadline == at(15))
        #expect(text(reception.tick(at: at(14.9))) == [])
        #expect(text(reception.tick(at: at(15))) == ["+receiver_silent@10.0"])
        #expect(reception.deadline == nil)
        #expect(text(reception.taken(reportedAt: at(20), at: at(20.3))) == ["-receiver_silent@20.0"])
    }

    @Test("no fix is a gap at once, until a fix is taken (P55)")
    func noFix() {
        var reception = connected()
        _ = reception.taken(reportedAt: at(1), at: at(1))
        #expect(text(reception.refused(.noFix, at: at(2))) == ["+no_fix@2.0"])
        #expect(text(reception.refused(.noFix, at: at(6))) == [])
        #expect(text(reception.taken(reportedAt: at(7), at: at(7.3))) == ["-no_fix@7.0"])
    }

    @Test("a fix from before the loss does not end the loss")
    func lateFix() {
        var reception = connected()
        _ = reception.refused(.noFix, at: at(2))
        #expect(text(reception.taken(reportedAt: at(1.9), at: at(2.2))) == [])
        #expect(reception.obstacle == .noFix)
    }

    @Test("a fix from before its receiver was unplugged does not bring the receiver back")
    func lateFixOfNoDevice() {
        var reception = connected()
        _ = reception.receivers(present: false, at: at(2))
        #expect(text(reception.taken(reportedAt: at(1.9), at: at(2.2))) == [])
        #expect(text(reception.taken(reportedAt: at(3), at: at(3.3))) == ["-no_device@3.0"])
    }

    @Test("one refused report is none; five seconds of them are a gap that says why")
    func refused() {
        var reception = connected()
        _ = reception.taken(reportedAt: at(1), at: at(1))
        for second in 2...6 { #expect(text(reception.refused(.repeated, at: at(Double(second)))) == []) }
        #expect(text(reception.refused(.repeated, at: at(7))) == ["+fix_refused@2.0"])
        #expect(reception.detail == "repeated")
        #expect(text(reception.taken(reportedAt: at(8), at: at(8))) == ["-fix_refused@8.0"])
    }

    @Test("one state follows the other without a moment between them")
    func transitions() {
        var reception = connected()
        #expect(text(reception.refused(.noFix, at: at(1))) == ["+no_fix@1.0"])
        #expect(text(reception.tick(at: at(6))) == ["-no_fix@1.0", "+receiver_silent@1.0"])
        #expect(text(reception.refused(.noFix, at: at(8))) == ["-receiver_silent@8.0", "+no_fix@8.0"])
        for second in 9...13 { _ = reception.refused(.inaccurate, at: at(Double(second))) }
        #expect(text(reception.refused(.inaccurate, at: at(14))) == ["-no_fix@9.0", "+fix_refused@9.0"])
        #expect(text(reception.refused(.noFix, at: at(15))) == ["-fix_refused@15.0", "+no_fix@15.0"])
        #expect(text(reception.receivers(present: false, at: at(16))) == ["-no_fix@16.0", "+no_device@16.0"])
        #expect(text(reception.tick(at: at(30))) == [])
        #expect(text(reception.receivers(present: true, at: at(31))) == ["-no_device@31.0"])
        #expect(text(reception.tick(at: at(36))) == ["+receiver_silent@31.0"])
    }

    @Test("a reconnection after a silence is no news: the silence goes on")
    func reconnection() {
        var reception = connected()
        _ = reception.tick(at: at(5))
        #expect(text(reception.connected(at: at(80))) == [])
        #expect(reception.obstacle == .receiverSilent)
        #expect(text(reception.lost(at: at(90), detail: "refused")) == ["-receiver_silent@90.0", "+gpsd_away@90.0"])
    }

    @Test("a test that ends before the first fix says so")
    func shortTest() {
        var reception = connected()
        #expect(text(reception.finish(at: at(1))) == ["+no_fix@0.0"])
        var happy = connected()
        _ = happy.taken(reportedAt: at(0.5), at: at(0.8))
        #expect(text(happy.finish(at: at(1))) == [])
    }

    @Test("a silence after a refused report is waited for, not spun in (P66)")
    func silenceAfterRefusal() {
        var reception = connected()
        _ = reception.refused(.accuracyUnknown, at: at(2))
        #expect(reception.deadline == at(7))
        _ = reception.tick(at: at(7))
        #expect(reception.obstacle == .receiverSilent && reception.deadline == nil)
    }

    @Test("whatever happens: no deadline in the past, gaps in order and never two at once", arguments: 0..<20)
    func anyOrder(_ seed: UInt64) {
        var random = Seeded(state: seed)
        var reception = Reception(startedAt: at(0), silence: .seconds(5))
        var now = 0.0
        var open: Reception.Obstacle?
        var last = at(0)
        // Counted, because thousands of expectations would keep other tests waiting.
        var faults = 0
        for _ in 0..<500 {
            now += Double(random.next() % 4000) / 1000
            let instant = at(now)
            for change in anything(&reception, &random, now) + reception.tick(at: instant) {
                switch change {
                case .began(let obstacle, let from, _):
                    if open != nil || from < last || from > instant { faults += 1 }
                    (open, last) = (obstacle, from)
                case .ended(let obstacle, let to):
                    if open != obstacle || to < last || to > instant { faults += 1 }
                    (open, last) = (nil, to)
                }
            }
            if open != reception.obstacle { faults += 1 }
            if let deadline = reception.deadline, deadline <= instant { faults += 1 }
        }
        #expect(faults == 0)
    }

    private func anything(_ reception: inout Reception, _ random: inout Seeded, _ now: Double) -> [Reception.Change] {
        switch random.next() % 8 {
        case 0: reception.connected(at: at(now))
        case 1: reception.lost(at: at(now), detail: "")
        case 2: reception.receivers(present: random.next() % 2 == 0, at: at(now))
        case 3: reception.refused(.noFix, at: at(now))
        case 4: reception.refused(.inaccurate, at: at(now))
        case 5: reception.taken(reportedAt: at(max(0, now - 0.3)), at: at(now))
        default: []
        }
    }
}

/// The same numbers for the same seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
