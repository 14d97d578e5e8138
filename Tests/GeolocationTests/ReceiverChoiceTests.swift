@testable import Geolocation
import MeasurementModel
import Testing

/// Several receivers on one gpsd. Covers R-20, P67.
@Suite struct ReceiverChoiceTests {
    private func report(_ second: Double, _ device: String?) -> TPV {
        TPV.full(device == "/dev/b" ? 48.002 : 48, device: device).with { $0.time = noon(second) }
    }

    private func latitudes(_ outcomes: [FixSelector.Outcome]) -> [Double] { outcomes.taken.map(\.fix.latitude) }

    @Test("the first with a precise fix is kept: no jumps between antennas 200 m apart (P67)")
    func sticky() {
        var bench = SelectorBench()
        var outcomes: [FixSelector.Outcome] = []
        for second in 0..<20 {
            let time = Double(second)
            outcomes += bench.receive(report(time, "/dev/b").with { $0.eph = second == 0 ? 500 : 5 }, at: time)
            outcomes += bench.receive(report(time, "/dev/a"), at: time + 0.05)
        }
        outcomes += bench.settle(at: 30)
        #expect(latitudes(outcomes) == Array(repeating: 48, count: 20))
        #expect(outcomes.refusals == [.inaccurate] + Array(repeating: .otherReceiver, count: 19))
    }

    @Test("another one takes over after ten seconds of silence, and keeps it")
    func silence() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 3) { report($0, "/dev/a") }
        let outcomes = bench.stream(from: 4, through: 20) { report($0, "/dev/b") }
        #expect(outcomes.refusals == Array(repeating: .otherReceiver, count: 10))
        #expect(outcomes.taken.count == 7)
        #expect(bench.receive(report(21, "/dev/a"), at: 21).refusals == [.otherReceiver])
    }

    @Test("another one takes over after ten seconds without a fix")
    func loss() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 3) { report($0, "/dev/a") }
        var outcomes: [FixSelector.Outcome] = []
        for second in 4...15 {
            outcomes += bench.receive(.lost(device: "/dev/a"), at: Double(second))
            outcomes += bench.receive(report(Double(second), "/dev/b"), at: Double(second) + 0.1)
        }
        #expect(bench.settle(at: 16).taken.count + outcomes.taken.count == 3)
        #expect(outcomes.refusals.count { $0 == .otherReceiver } == 11)
    }

    @Test("a loss of the receiver that is not followed is no loss")
    func otherLoss() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 1) { report($0, "/dev/a") }
        #expect(bench.receive(.lost(device: "/dev/b"), at: 2).refusals == [.otherReceiver])
    }

    @Test("one that gpsd says has gone makes room at once")
    func removed() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 1) { report($0, "/dev/a") }
        bench.selector.removed("/dev/a")
        #expect(bench.stream(from: 2, through: 3) { report($0, "/dev/b") }.taken.count == 2)
    }

    @Test("a pinned receiver is the only one, however long it is silent (P67)")
    func pinned() {
        var bench = SelectorBench(device: "/dev/b")
        #expect(bench.stream(from: 0, through: 30) { report($0, "/dev/a") }.taken.isEmpty)
        #expect(bench.stream(from: 31, through: 33) { report($0, "/dev/b") }.taken.count == 3)
        #expect(bench.receive(report(34, nil), at: 34).refusals == [.otherReceiver])
    }

    @Test("the two receivers' times are not compared with each other")
    func separateClocks() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 3) { report($0, "/dev/a") }
        bench.selector.removed("/dev/a")
        let outcomes = bench.stream(from: 4, through: 8) { second in report(second, "/dev/b").with { $0.time = noon(second - 100) } }
        #expect(outcomes.taken.count == 5 && outcomes.refusals.isEmpty)
    }

    @Test("names without end do not fill the memory")
    func manyNames() {
        var bench = SelectorBench()
        for number in 0..<1000 {
            _ = bench.receive(report(Double(number) * 11, "/dev/\(number)"), at: Double(number) * 11)
        }
        #expect(bench.settle(at: 20_000).taken.count == 1)
    }
}
