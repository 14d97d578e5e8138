@testable import Geolocation
import MeasurementModel
import Testing

/// Fixes that were held up on their way. Covers R-23, P65.
@Suite struct LagTests {
    private func report(_ second: Double) -> TPV { TPV.full(48 + second * 1e-4).with { $0.time = noon(second) } }

    @Test("a slow line: fixes are dropped once they are more than ten seconds late")
    func slowLine() {
        var bench = SelectorBench()
        var outcomes: [FixSelector.Outcome] = []
        // Each report takes a second and a half for a second.
        for second in 0..<40 { outcomes += bench.receive(report(Double(second)), at: Double(second) * 1.5) }
        outcomes += bench.settle(at: 100)
        #expect(outcomes.taken.count == 21)
        #expect(outcomes.refusals == Array(repeating: .late, count: 19))
    }

    @Test("after a stall only the newest of what had piled up is taken, and it is new (P65)")
    func pileUp() {
        var bench = SelectorBench()
        for second in 0...4 { _ = bench.receive(report(Double(second)), at: Double(second)) }
        // Ten seconds at 50 Hz, read at once.
        var outcomes: [FixSelector.Outcome] = []
        for tick in 1...500 {
            if let refusal = bench.selector.receive(report(4 + Double(tick) / 50), at: bench.arrival(14)) {
                outcomes.append(.refused(refusal))
            }
        }
        outcomes += bench.settle(at: 14) + bench.settle(at: 14.5)
        #expect(outcomes.refusals.allSatisfy { $0 == .late })
        let ages = outcomes.taken.filter { $0.arrival.instant == at(14) }.map { 14 - $0.fix.tpv.time!.seconds }
        #expect(ages.allSatisfy { $0 <= 1 } && ages.contains(0))
    }

    @Test("also when the stall was there from the start")
    func pileUpFirst() {
        var bench = SelectorBench()
        for tick in 0...500 { _ = bench.selector.receive(report(Double(tick) / 50), at: bench.arrival(10)) }
        let outcomes = bench.settle(at: 10) + bench.settle(at: 10.5)
        #expect(!outcomes.taken.isEmpty && outcomes.taken.allSatisfy { 10 - $0.fix.tpv.time!.seconds <= 1 })
    }

    @Test("a frozen gpsd that pours out a minute at once: what is old is dropped, and the stream goes on")
    func freeze() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 5) { report($0) }
        var outcomes: [FixSelector.Outcome] = []
        for second in 6...66 {
            if let refusal = bench.selector.receive(report(Double(second)), at: bench.arrival(66)) { outcomes.append(.refused(refusal)) }
        }
        outcomes += bench.settle(at: 66.4)
        outcomes += bench.stream(from: 67, through: 70) { report($0) }
        #expect(outcomes.taken.map(\.fix.latitude) == [65, 66, 67, 68, 69, 70].map { 48 + $0 * 1e-4 })
    }

    @Test("two or three fixes in one read are no pile: a busy machine loses none (R-20)")
    func smallBatch() {
        var bench = SelectorBench()
        for tick in 0..<5 { _ = bench.receive(report(Double(tick) / 10), at: Double(tick) / 10) }
        let outcomes = bench.receive(report(0.5), report(0.6), report(0.7), at: 0.7) + bench.settle(at: 1.1)
        #expect(outcomes.taken.count == 4 && outcomes.refusals.isEmpty)
    }

    @Test("a receiver that sets its clock right is not late", arguments: [7_000_000.0, 18, 3600])
    func stepForward(_ step: Double) {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 3) { report($0) }
        let outcomes = bench.stream(from: 4, through: 9) { report($0).with { $0.time = noon($0.time!.seconds + step) } }
        #expect(outcomes.taken.count == 6 && outcomes.refusals.isEmpty)
    }

    @Test("a receiver that corrects its clock while it has no fix is not late for good")
    func correctionWithoutFix() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 3) { report($0) }
        for second in 4...63 { _ = bench.receive(.lost().with { $0.time = noon(Double(second)) }, at: Double(second)) }
        let outcomes = bench.stream(from: 64, through: 70) { report($0).with { $0.time = noon($0.time!.seconds - 18) } }
        #expect(outcomes.taken.count == 7 && outcomes.refusals.isEmpty)
    }

    @Test("a new connection is reckoned anew, and still knows what it has had")
    func newConnection() {
        var bench = SelectorBench()
        _ = bench.stream(from: 0, through: 3) { report($0) }
        bench.selector.connected()
        #expect(bench.receive(report(3), at: 10).refusals == [.repeated])
        #expect((bench.receive(report(4), at: 30) + bench.settle(at: 31)).taken.count == 1)
    }
}
