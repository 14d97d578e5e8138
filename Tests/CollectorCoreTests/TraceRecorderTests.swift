import CollectorTestKit
import MeasurementModel
import Synchronization
import Testing

@testable import CollectorCore

/// The recorder: declared, permitted, changed, time-stamped.
struct TraceRecorderTests {
    private static func descriptor(_ fields: [FieldDeclaration], silence: Duration? = nil) -> CollectorDescriptor {
        CollectorDescriptor(name: "sample", version: "1", trace: "sample_trace", fields: fields, maximumSilence: silence)
    }

    private static func recorder(
        _ fields: [FieldDeclaration], clock: ManualClock = ManualClock(), permissions: Permissions = .none,
        limits: TraceLimits = TraceLimits(),
        silence: Duration? = nil, clockOffset: Duration? = nil, observer: TraceObserver? = nil
    ) -> TraceRecorder {
        TraceRecorder(
            descriptor: descriptor(fields, silence: silence),
            setting: TraceRecorder.Setting(
                permissions: permissions, clock: clock, watch: ClockWatch(clock: clock, start: clock.now()), startedAt: clock.now(),
                clockOffset: clockOffset, limits: limits, observer: observer))
    }

    private static let level = FieldDeclaration.number(
        "level", unit: .dBm, privacy: .otherDiagnosticData, changes: .by(5), about: "A level")
    private static let name = FieldDeclaration.text("name", privacy: .otherDiagnosticData, about: "A name")

    @Test("R-6 Any difference, and nothing else, is a change")
    func anyDifference() {
        let recorder = Self.recorder([Self.name])
        #expect(recorder.record(["name": .text("a")]))
        #expect(!recorder.record(["name": .text("a")]))
        #expect(recorder.record(["name": .text("b")]))
        #expect(recorder.record(["name": .text("a")]))
        let (record, snapshots) = recorder.seal(endedAt: .now())
        #expect(record.recorded == 3 && record.suppressed == 1 && snapshots.count == 3)
    }

    @Test("R-6 At least so much since the last recorded value: no flapping, and no creeping away")
    func byAmount() {
        let recorder = Self.recorder([Self.level])
        #expect(recorder.record(["level": .integer(-60)]))
        #expect(!recorder.record(["level": .number(-64.9)]))
        #expect(!recorder.record(["level": .integer(-56)]))
        #expect(recorder.record(["level": .integer(-65)]))
        #expect(!recorder.record(["level": .integer(-61)]))
        #expect(recorder.record(["level": .integer(-60)]))
    }

    @Test("R-6 A value that appears or disappears is a change, also where the amount counts")
    func appearance() {
        let recorder = Self.recorder([Self.level, Self.name])
        #expect(recorder.record(["name": .text("a")]))
        #expect(recorder.record(["name": .text("a"), "level": .integer(-60)]))
        #expect(recorder.record(["name": .text("a")]))
        #expect(!recorder.record(["name": .text("a")]))
    }

    @Test("R-6 A field that is never a reason is shown with what is")
    func never() {
        let rate = FieldDeclaration.number("rate", privacy: .performanceData, changes: .never, about: "A rate")
        let recorder = Self.recorder([Self.name, rate])
        #expect(recorder.record(["name": .text("a"), "rate": .integer(1)]))
        #expect(!recorder.record(["name": .text("a"), "rate": .integer(2)]))
        #expect(recorder.record(["name": .text("b"), "rate": .integer(3)]))
        #expect(recorder.seal(endedAt: .now()).snapshots.map { $0["rate"] } == [.integer(1), .integer(3)])
    }

    @Test("R-20 A position moves as a whole, from the last recorded one")
    func movement() {
        // A plane where a degree is a metre.
        let flat: ChangeRule.Distance = { from, to in ((from.0 - to.0) * (from.0 - to.0) + (from.1 - to.1) * (from.1 - to.1)).squareRoot() }
        let recorder = Self.recorder([
            .number("latitude", privacy: .preciseLocation, changes: .moved(metres: 1, longitude: "longitude", distance: flat), about: "-"),
            .number("longitude", privacy: .preciseLocation, changes: .never, about: "-"),
        ])
        #expect(recorder.record(["latitude": .number(0), "longitude": .number(0)]))
        #expect(!recorder.record(["latitude": .number(0.6), "longitude": .number(0.6)]))
        #expect(recorder.record(["latitude": .number(0.8), "longitude": .number(0.8)]))
        #expect(!recorder.record(["latitude": .number(0.8), "longitude": .number(1.7)]))
        #expect(recorder.record(["latitude": .number(0.8), "longitude": .number(1.8)]))
    }

    @Test("R-8 R-26 Undeclared, of a wrong type, not finite, empty or endless: dropped and told")
    func refused() {
        let recorder = Self.recorder([Self.name, Self.level])
        #expect(recorder.record(["name": .text("a"), "other": .bool(true), "level": .text("x")]))
        #expect(!recorder.record(["name": .text("a"), "level": .number(.nan)]))
        #expect(!recorder.record(["name": .text("a"), "level": .number(.infinity)]))
        #expect(!recorder.record(["level": .number(.nan)]))
        #expect(recorder.record(["name": .text(String(repeating: "x", count: 5000)), "level": .integer(1)]))
        #expect(recorder.record(["name": .text(""), "level": .integer(9)]))
        let (record, snapshots) = recorder.seal(endedAt: .now())
        #expect(
            record.rejected == [
                "undeclared:other": 1, "type:level": 1, "not_finite:level": 3, "too_long:name": 1, "empty:name": 1,
            ])
        #expect(snapshots.map(\.fields.count) == [1, 1, 1])
    }

    @Test("R-26 Made-up names cannot grow the honesty record without end")
    func bounded() {
        let recorder = Self.recorder([Self.name])
        for number in 0..<1000 { recorder.record(["x\(number)": .bool(true)]) }
        let rejected = recorder.seal(endedAt: .now()).record.rejected
        #expect(rejected.count <= 65)
        #expect(rejected.values.reduce(0, +) == 1000)
    }

    @Test("R-18 R-25 Without its permission a field is left out, and the rest stays")
    func permission() {
        let secret = FieldDeclaration.text("ssid", privacy: .connectionContext, permission: .wifiIdentity, about: "-")
        let values: [String: FieldValue] = ["name": .text("a"), "ssid": .text("home")]
        let without = Self.recorder([Self.name, secret])
        without.record(values)
        let (record, snapshots) = without.seal(endedAt: .now())
        #expect(snapshots.map { $0.fields.map(\.name) } == [["name"]])
        #expect(record.withheld == ["ssid"])
        let with = Self.recorder([Self.name, secret], permissions: Permissions(granted: [.wifiIdentity]))
        with.record(values)
        #expect(with.seal(endedAt: .now()).snapshots[0]["ssid"] == .text("home"))
    }

    @Test("R-26 The members of records are declared, permitted and compared like fields")
    func records() {
        let links = FieldDeclaration(
            "links", .records, privacy: .connectionContext, about: "-",
            members: [
                .integer("id", privacy: .connectionContext, about: "-"),
                .integer("rssi", privacy: .connectionContext, changes: .by(5), about: "-"),
                .text("bssid", privacy: .connectionContext, permission: .wifiIdentity, about: "-"),
            ])
        let recorder = Self.recorder([links])
        let link: (Int, Int) -> [String: FieldValue] = {
            ["id": .integer($0), "rssi": .integer($1), "bssid": .text("b"), "x": .bool(true)]
        }
        #expect(recorder.record(["links": .records([link(0, -60), link(1, -70)])]))
        #expect(!recorder.record(["links": .records([link(0, -62), link(1, -73)])]))
        #expect(recorder.record(["links": .records([link(0, -62), link(1, -75)])]))
        #expect(recorder.record(["links": .records([link(0, -62)])]))
        let (record, snapshots) = recorder.seal(endedAt: .now())
        #expect(
            snapshots[0]["links"] == .records([["id": .integer(0), "rssi": .integer(-60)], ["id": .integer(1), "rssi": .integer(-70)]]))
        #expect(record.withheld == ["links.bssid"])
        #expect(record.rejected == ["undeclared:links.x": 7])
    }

    @Test("R-7 A clock step moves the label and never the order; the server's clock stands beside it")
    func clockStep() {
        let clock = ManualClock()
        let recorder = Self.recorder([Self.name], clock: clock, clockOffset: .milliseconds(250))
        recorder.record(["name": .text("a")])
        clock.advance(by: .seconds(2))
        clock.step(by: .seconds(-3600))
        recorder.record(["name": .text("b")])
        clock.advance(by: .milliseconds(1500))
        // Seen a second ago, told now.
        recorder.record(["name": .text("c")], at: clock.now() - .seconds(1))
        // A moment before the last snapshot, or in the future, would reorder the trace.
        recorder.record(["name": .text("d")], at: clock.now() - .seconds(60))
        recorder.record(["name": .text("e")], at: clock.now() + .seconds(60))
        let snapshots = recorder.seal(endedAt: .now()).snapshots
        #expect(snapshots.map(\.offset) == [.zero, .seconds(2), .milliseconds(2500), .milliseconds(2500), .milliseconds(3500)])
        #expect(snapshots[1].clientTime.milliseconds - snapshots[0].clientTime.milliseconds == -3_598_000)
        #expect(snapshots[2].clientTime.milliseconds - snapshots[1].clientTime.milliseconds == 500)
        #expect(snapshots.allSatisfy { $0.clientTimeSkewed!.milliseconds - $0.clientTime.milliseconds == 250 })
    }

    @Test("The steps of the wall clock are noticed with their size; slewing is none")
    func clockWatch() {
        let clock = ManualClock()
        let watch = ClockWatch(clock: clock, start: clock.now())
        clock.advance(by: .seconds(10))
        watch.look()
        clock.step(by: .milliseconds(60))
        watch.look()
        clock.step(by: .seconds(-5))
        clock.advance(by: .seconds(1))
        watch.look()
        #expect(watch.steps == [ClockWatch.Step(offset: .seconds(11), size: .seconds(-5))])
    }

    @Test("R-4 A flood is refused beyond its budget, told as a gap, and ends when the collector calms down")
    func flood() {
        let clock = ManualClock()
        var limits = TraceLimits()
        limits.burst = 10
        limits.recordsPerSecond = 5
        let recorder = Self.recorder([Self.level], clock: clock, limits: limits)
        for number in 0..<100 { recorder.record(["level": .integer(number * 10)]) }
        clock.advance(by: .seconds(1))
        #expect(recorder.record(["level": .integer(5)]))
        let (record, snapshots) = recorder.seal(endedAt: clock.now())
        #expect(snapshots.count == 11)
        #expect(record.rejected == ["flood": 90])
        #expect(record.gaps == [CollectorRecord.Gap(from: .zero, to: .seconds(1), reason: "flood")])
    }

    @Test("A trace has a length limit, and says when it was reached")
    func full() {
        let clock = ManualClock()
        var limits = TraceLimits()
        limits.maximumSnapshots = 3
        let recorder = Self.recorder([Self.level], clock: clock, limits: limits)
        for number in 0..<5 {
            recorder.record(["level": .integer(number * 10)])
            clock.advance(by: .seconds(1))
        }
        let (record, snapshots) = recorder.seal(endedAt: clock.now())
        #expect(snapshots.count == 3 && record.rejected == ["trace_full": 2])
        #expect(record.gaps == [CollectorRecord.Gap(from: .seconds(3), to: .seconds(5), reason: "trace_full")])
    }

    @Test("R-4 A trace that would take the memory of the probe is full before that, by its octets too")
    func fullOfOctets() {
        let clock = ManualClock()
        let parts = FieldDeclaration(
            "parts", .records, privacy: .otherDiagnosticData, about: "Records",
            members: [.integer("id", privacy: .otherDiagnosticData, about: "A number")])
        let recorder = Self.recorder([Self.name, parts], clock: clock)
        for number in 0..<2000 {
            let records = (0..<256).map { _ in ["id": FieldValue.integer(number)] }
            recorder.record(["name": .text("\(number)" + String(repeating: "x", count: 4000)), "parts": .records(records)])
            clock.advance(by: .seconds(1))
        }
        let (record, snapshots) = recorder.seal(endedAt: clock.now())
        // Some 80 KiB each, and 32 MiB in all.
        #expect((300...500).contains(snapshots.count))
        #expect(record.rejected["trace_full"] == 2000 - snapshots.count)
        #expect(record.gaps.map(\.reason) == ["trace_full"])
    }

    @Test("R-9 A collector that is silent for longer than it promises has a gap")
    func silence() {
        let clock = ManualClock()
        let recorder = Self.recorder([Self.name], clock: clock, silence: .seconds(30))
        recorder.record(["name": .text("a")])
        clock.advance(by: .seconds(30))
        recorder.record(["name": .text("a")])
        clock.advance(by: .seconds(31))
        recorder.record(["name": .text("a")])
        clock.advance(by: .seconds(40))
        #expect(
            recorder.seal(endedAt: clock.now()).record.gaps == [
                CollectorRecord.Gap(from: .seconds(30), to: .seconds(61), reason: "silent"),
                CollectorRecord.Gap(from: .seconds(61), to: .seconds(101), reason: "silent"),
            ])
    }

    @Test("R-9 Gaps begin and end, overlap, and end with the test at the latest")
    func gaps() {
        let clock = ManualClock()
        let recorder = Self.recorder([Self.name], clock: clock)
        recorder.gap(.began("away"))
        clock.advance(by: .seconds(1))
        recorder.gap(.began("away"))
        recorder.gap(.began("deaf"))
        clock.advance(by: .seconds(1))
        recorder.gap(.ended("away"))
        recorder.gap(.ended("never begun"))
        recorder.gap(.passed(.eventLoss, from: clock.now() - .seconds(60), to: clock.now()))
        clock.advance(by: .seconds(1))
        let gaps = recorder.seal(endedAt: clock.now()).record.gaps
        #expect(
            Set(gaps) == [
                CollectorRecord.Gap(from: .zero, to: .seconds(2), reason: "away"),
                CollectorRecord.Gap(from: .seconds(1), to: .seconds(3), reason: "deaf"),
                CollectorRecord.Gap(from: .zero, to: .seconds(2), reason: "event_loss"),
            ])
        #expect(gaps.map(\.from) == gaps.map(\.from).sorted())
    }

    @Test("R-9 Every gap is told when it begins or is known, and again when it ends")
    func toldGaps() {
        let clock = ManualClock()
        var limits = TraceLimits()
        limits.burst = 3
        limits.recordsPerSecond = 1
        let told = Mutex<[CollectorRecord.Gap]>([])
        let recorder = Self.recorder(
            [Self.level], clock: clock, limits: limits, silence: .seconds(30),
            observer: { event in if case .gap(let gap) = event.kind { told.withLock { $0.append(gap) } } })
        func news() -> [String] {
            told.withLock { gaps in
                defer { gaps = [] }
                return gaps.map { "\($0.reason) \($0.from.milliseconds / 1000)-\($0.to.map { "\($0.milliseconds / 1000)" } ?? "")" }
            }
        }
        clock.advance(by: .seconds(40))
        for number in 0..<5 { recorder.record(["level": .integer(number * 10)]) }
        #expect(news() == ["silent 0-40", "flood 40-"])
        clock.advance(by: .seconds(10))
        recorder.gap(.began("away"))
        #expect(news() == ["flood 40-50", "away 50-"])
        clock.advance(by: .seconds(31))
        recorder.rejected("bad")
        #expect(news() == ["silent 50-81"])
        clock.advance(by: .seconds(35))
        let listed = recorder.seal(endedAt: clock.now()).record.gaps
        #expect(news() == ["silent 81-116", "away 50-116"])
        #expect(listed.count == 5)
        _ = recorder.seal(endedAt: clock.now())
        #expect(news().isEmpty)
    }

    @Test("R-4 Gaps and states have the same budget as records, and open gaps are bounded")
    func floodOfGaps() {
        let clock = ManualClock()
        var limits = TraceLimits()
        limits.burst = 100
        let told = Mutex(0)
        let recorder = Self.recorder([Self.level], clock: clock, limits: limits, observer: { _ in told.withLock { $0 += 1 } })
        for number in 0..<1000 {
            recorder.gap(.began(StateReason("g\(number)")))
            recorder.unavailable(.noDaemon)
            recorder.available()
        }
        #expect(told.withLock { $0 } <= 101)
        let states = recorder.seal(endedAt: clock.now()).record
        #expect(states.gaps.contains { $0.reason == "flood" })
        #expect(states.rejected["flood"] ?? 0 > 1000)
        let many = Self.recorder([Self.level], clock: clock)
        for number in 0..<200 { many.gap(.began(StateReason("g\(number)"))) }
        let record = many.seal(endedAt: clock.now()).record
        #expect(record.gaps.count == 64 && record.gapsNotListed == 136)
    }

    @Test("R-9 One that hangs has a gap since its last word")
    func hung() {
        let clock = ManualClock()
        let recorder = Self.recorder([Self.name], clock: clock, silence: .seconds(1))
        clock.advance(by: .milliseconds(500))
        recorder.record(["name": .text("a")])
        clock.advance(by: .seconds(9))
        #expect(
            recorder.seal(endedAt: clock.now(), hangs: true).record.gaps == [
                CollectorRecord.Gap(from: .milliseconds(500), to: .milliseconds(9500), reason: "hung")
            ])
    }

    @Test("R-9 Unavailable is a state that a record ends; a trace with snapshots is never unavailable as a whole")
    func states() {
        let never = Self.recorder([Self.name])
        never.unavailable(.noDaemon, detail: "no gpsd")
        #expect(never.seal(endedAt: .now()).record.state == .unavailable)
        let later = Self.recorder([Self.name])
        later.unavailable(.noDaemon)
        later.record(["name": .text("a")])
        #expect(later.seal(endedAt: .now()).record.state == .ok)
        let before = Self.recorder([Self.name])
        before.record(["name": .text("a")])
        before.unavailable(.noDaemon)
        let record = before.seal(endedAt: .now()).record
        #expect(record.state == .ok && record.reason == nil)
        let quiet = Self.recorder([Self.name])
        quiet.unavailable(.noDaemon)
        quiet.available()
        #expect(quiet.seal(endedAt: .now()).record.state == .ok)
    }

    @Test("R-11 After the test's end a first snapshot is taken, and no second; after the seal nothing is")
    func end() {
        let recorder = Self.recorder([Self.name])
        recorder.close()
        #expect(recorder.record(["name": .text("a")]))
        #expect(!recorder.record(["name": .text("b")]))
        let (record, snapshots) = recorder.seal(endedAt: .now())
        #expect(snapshots.count == 1)
        recorder.record(["name": .text("c")])
        recorder.gap(.began("late"))
        recorder.rejected("late")
        recorder.unavailable("late")
        #expect(recorder.seal(endedAt: .now()).record == record)
    }
}
