import CollectorCore
import CollectorTestKit
import Glibc
import LabSupport
import MeasurementModel
import Testing

private struct Trouble: Error {}

extension KitTests {
    /// for each rule a collector that breaks it and no other one.
    @Suite struct BrokenTests {
        @Test("A declaration that the host cannot use")
        func declaration() async {
            await expectFailure(of: .declaration, "the trace key 'temperature'", Specimen(trace: "temperature"))
        }

        @Test("Precise location without the permission, also inside a record")
        func privacy() async {
            let open = FieldDeclaration.number("latitude", privacy: .preciseLocation, permission: .wifiIdentity, about: "Where")
            let covered = FieldDeclaration(
                "places", .records, privacy: .preciseLocation, permission: .preciseLocation, about: "Places",
                members: [.number("east", privacy: .preciseLocation, about: "Where")])
            await expectFailure(
                of: .privacy, "'latitude' would be recorded without", Specimen(fields: [Specimen.value, open, covered]))
        }

        @Test("A field that does not say what it means")
        func about() async {
            await expectFailure(
                of: .about, "'other' has no text",
                Specimen(fields: [Specimen.value, .bool("other", privacy: .otherDiagnosticData, about: " ")]))
        }

        @Test("Nothing recorded and no reason given")
        func mute() async {
            let silent = Specimen { _, session in while !session.wait().isCancelled {} }
            await expectFailure(of: .records, "in 200 ms it handed over nothing, and gave no reason", silent)
        }

        @Test("An error instead of a state")
        func throwing() async {
            await expectFailure(of: .records, "it ended with 'failed' (error: Trouble())", Specimen { _, _ in throw Trouble() })
        }

        @Test("Values that are not declared, of another type, or none")
        func values() async {
            let collector = Specimen { trace, session in
                trace.record(["value": .text("7")])
                trace.record(["value": .integer(1), "other": .bool(true)])
                while !session.wait().isCancelled {}
            }
            // Its second set comes before it looks whether the test is over.
            let verdict = await CollectorConformance(collector, settings: .short()).run()
            #expect(verdict[.values]?.problem == "of 2 sets of values the recorder dropped type:value (1 time), undeclared:other (1 time)")
            #expect(Set(verdict.failed.map(\.name)) == ["values", "stop_at_once"], "\(verdict)")
            let nothing = FieldDeclaration.number("value", privacy: .otherDiagnosticData, about: "A number")
            await expectFailure(
                of: .values, "not_finite:value (1 time)",
                Specimen(CollectorDescriptor(name: "specimen", version: "1", trace: "specimen_trace", fields: [nothing])) {
                    trace, session in
                    trace.record(["value": .number(.nan)])
                    while !session.wait().isCancelled {}
                })
        }

        @Test("Moments before the test and in the future")
        func timeStamps() async {
            await expectFailure(
                of: .timeStamps, "of 1 moment 1 before the test's start, by up to 10 s",
                Specimen { trace, session in
                    trace.record(["value": .integer(1)], at: session.startedAt - .seconds(10))
                    while !session.wait().isCancelled {}
                })
            await expectFailure(
                of: .timeStamps, "1 in the future, by up to",
                Specimen { trace, session in
                    trace.record(["value": .integer(1)], at: session.clock.now() + .seconds(3600))
                    while !session.wait().isCancelled {}
                })
        }

        @Test("A silence longer than promised")
        func silence() async {
            var collector = Specimen { trace, session in
                trace.record(["value": .integer(1)])
                while !session.wait().isCancelled {}
            }
            collector.descriptor = Specimen(maximumSilence: .milliseconds(1)).descriptor
            await expectFailure(of: .silence, "it promises a word each 1 ms, and was silent for", collector)
        }

        @Test("Reading on although the test is over")
        func stopAtOnce() async {
            await expectFailure(
                of: .stopAtOnce, "in round 1 it handed over 3 sets of values although the test was over",
                Specimen { trace, session in
                    for number in 0..<3 { trace.record(["value": .integer(number)]) }
                    while !session.wait().isCancelled {}
                })
        }

        @Test("Waiting for a trace that takes nothing")
        func notTaken() async {
            let isReleased = Shared(false)
            await expectFailure(
                of: .notTaken, "with a trace that takes nothing it did not return within", stopDeadline: .oneDeadline,
                Specimen { trace, session in
                    while !trace.record(["value": .integer(1)]), !isReleased.withLock({ $0 }) { usleep(1000) }
                    while !session.wait().isCancelled {}
                })
            isReleased.withLock { $0 = true }
        }

        @Test("An error for want of a permission")
        func permissions() async {
            let field = FieldDeclaration.text("ssid", privacy: .connectionContext, permission: .wifiIdentity, about: "Network")
            await expectFailure(
                of: .permissions, "it ended with 'failed' (error: Trouble())",
                Specimen(
                    CollectorDescriptor(name: "specimen", version: "1", trace: "specimen_trace", fields: [Specimen.value, field])
                ) { trace, session in
                    guard session.permissions.allows(.wifiIdentity) else { throw Trouble() }
                    trace.record(["value": .integer(1), "ssid": .text("home")])
                    while !session.wait().isCancelled {}
                })
        }

        @Test("One test at a time only")
        func twoTests() async {
            let isBusy = Shared(false)
            await expectFailure(
                of: .twoTests, "test it ended with 'failed' (error: Trouble())",
                Specimen { trace, session in
                    let wasBusy = isBusy.withLock { busy in
                        defer { busy = true }
                        return busy
                    }
                    guard !wasBusy else { throw Trouble() }
                    defer { isBusy.withLock { $0 = false } }
                    await Specimen.tick(trace, session)
                })
        }

        @Test("One test's end is the end of the other")
        func commonEnd() async {
            let ends = Shared(0)
            await expectFailure(
                of: .twoTests, "in the second test it returned before the test's end", isWatchedLong: true,
                Specimen { trace, session in
                    let before = ends.withLock { $0 }
                    defer { ends.withLock { $0 += 1 } }
                    var number = 0
                    repeat {
                        trace.record(["value": .integer(number)])
                        number += 1
                        if ends.withLock({ $0 }) != before { return }
                    } while !session.wait(until: session.clock.now() + .milliseconds(5)).isCancelled
                })
        }

        @Test("A target that becomes known is taken for the end")
        func target() async {
            await expectFailure(
                of: .target, "it returned before the test's end, which it does not do otherwise", isWatchedLong: true,
                Specimen { trace, session in
                    trace.record(["value": .integer(1)])
                    while !session.wait().hasAttention {}
                })
        }

        @Test("Time measured on the wall clock")
        func clockStep() async {
            await expectFailure(
                of: .clockStep, "after the wall clock was set back by 1 h, it said nothing for", isWatchedLong: true,
                Specimen { trace, session in
                    var last: Timestamp?
                    var number = 0
                    repeat {
                        let wall = session.clock.wall()
                        guard last.map({ wall.milliseconds - $0.milliseconds >= 5 }) ?? true else { continue }
                        trace.record(["value": .integer(number)])
                        (last, number) = (wall, number + 1)
                    } while !session.wait(until: session.clock.now() + .milliseconds(5)).isCancelled
                })
        }

        @Test("Moments worked out from the wall clock")
        func wallStamps() async {
            await expectFailure(
                of: .clockStep, "in the future, by up to",
                Specimen { trace, session in
                    let (start, wallStart) = (session.clock.now(), session.clock.wall())
                    repeat {
                        // A little behind, because the wall clock is read in whole milliseconds: only a step makes it the future.
                        let age = Duration.milliseconds(session.clock.wall().milliseconds - wallStart.milliseconds - 5)
                        trace.record(["value": .integer(1)], at: max(session.startedAt, start + age))
                    } while !session.wait(until: session.clock.now() + .milliseconds(5)).isCancelled
                })
        }

        @Test("A declaration that is different each time")
        func sameDeclaration() async {
            struct Counting: Collector {
                let askings = Shared(0)
                var descriptor: CollectorDescriptor {
                    let number = askings.withLock { count in
                        count += 1
                        return count
                    }
                    return CollectorDescriptor(name: "counting", version: "\(number)", trace: "counting_trace", fields: [Specimen.value])
                }
                func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
                    await Specimen.tick(trace, session)
                }
            }
            await expectFailure(of: .sameDeclaration, "'version 1' became 'version 2'", Counting())
        }

        @Test("Calls after the return")
        func lateCalls() async {
            let isReleased = Shared(false)
            let started = Shared(0)
            await expectFailure(
                of: .lateCalls, "after the collector had returned, first 'record'",
                Specimen { trace, session in
                    await Specimen.tick(trace, session)
                    let number = started.withLock { count in
                        count += 1
                        return count
                    }
                    guard number == 1 else { return }
                    Task.detached {
                        while !isReleased.withLock({ $0 }) {
                            try? await Task.sleep(for: .milliseconds(5))
                            trace.record(["value": .integer(-1)])
                        }
                    }
                })
            isReleased.withLock { $0 = true }
        }
    }
}

extension Duration {
    /// For a collector that never returns, when only that is looked at. What returns does so at once, and has time for a loaded machine.
    static let oneDeadline: Duration = isThreadSanitized ? .seconds(10) : .seconds(3)
}
