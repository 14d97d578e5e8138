import MeasurementModel
import Testing

@testable import MeasurementSync

/// The uploader's rules in virtual time.
@Suite struct MachineTests {
    /// A server that answers at once, and a clock that goes from one moment of the machine's to the next.
    struct Bench {
        var machine = UploadMachine()
        var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        var answers: [String: UploadOutcome] = [:]
        var other = UploadOutcome.accepted
        var log: [(at: Duration, id: String)] = []
        var pending: [QueuedName]

        init(_ ids: [String]) {
            pending = ids.enumerated().map { QueuedName(sequence: UInt64($0.offset + 1), id: $0.element) }
        }

        mutating func begin() {
            tell(.listed(pending))
            tell(.uploader(true))
            tell(.configured)
        }

        mutating func tell(_ event: UploadEvent) {
            var events: ArraySlice = [event]
            while let event = events.popFirst() {
                for action in machine.handle(event, at: now) {
                    switch action {
                    case .upload(let name):
                        log.append((now - start, name.id))
                        events += [.started(name), .ended(name, answers[name.id] ?? other)]
                    case .remove(let name), .quarantine(let name, _, _): pending.removeAll { $0 == name }
                    case .tryUploader: events.append(.uploader(true))
                    default: break
                    }
                }
            }
        }

        /// Virtual time passes.
        mutating func pass(_ duration: Duration) {
            let end = now + duration
            while let moment = machine.wake, moment <= end {
                now = max(now, moment)
                tell(.woken)
            }
            now = end
        }

        func times(of id: String) -> [Double] { log.filter { $0.id == id }.map(\.at.inSeconds) }
    }

    @Test func oldestFirst() {
        var bench = Bench(["c", "a", "b"])
        bench.begin()
        #expect(bench.log.map(\.id) == ["c", "a", "b"])
        #expect(bench.pending == [] && bench.machine.wake == nil)
    }

    /// R-41, P83: every 60 seconds, without a limit.
    @Test func aFailureIsTriedEachMinuteForHours() {
        var bench = Bench(["a"])
        bench.answers["a"] = .retry(after: nil, .unreachable)
        bench.begin()
        bench.pass(.seconds(3 * 3600))
        #expect(bench.times(of: "a") == (0...180).map { Double($0) * 60 })
        bench.answers["a"] = .accepted
        bench.pass(.seconds(60))
        #expect(bench.pending == [] && bench.machine.wake == nil)
    }

    /// P74, P84, P89: a report that only fails keeps nobody back.
    @Test func aBadHead() {
        var bench = Bench(["bad", "a", "b"])
        bench.answers["bad"] = .retry(after: nil, .broken)
        bench.begin()
        #expect(bench.log.map(\.id) == ["bad", "a", "b"])
        #expect(bench.pending.map(\.id) == ["bad"])
    }

    /// One that takes the server down with it, or the connection, comes last in the next round.
    @Test func aHeadThatLooksLikeADeadServer() {
        var bench = Bench(["bad", "a", "b"])
        bench.answers["bad"] = .retry(after: nil, .unreachable)
        bench.begin()
        #expect(bench.log.map(\.id) == ["bad"])
        bench.pass(.seconds(60))
        #expect(bench.log.map(\.id) == ["bad", "a", "b", "bad"])
        #expect(bench.times(of: "a") == [60])
    }

    @Test func aRefusedReportIsOutOfTheWay() {
        var bench = Bench(["bad", "a"])
        bench.answers["bad"] = .refusedForGood(code: "document_invalid", detail: "")
        bench.begin()
        #expect(bench.pending == [] && bench.log.count == 2)
    }

    /// P88: the server's word is kept, by new reports and by a manual send too.
    @Test func retryAfterHoldsEverything() {
        var bench = Bench(["a", "b"])
        bench.other = .retry(after: .seconds(600), .broken)
        bench.begin()
        #expect(bench.log.map(\.id) == ["a"])
        bench.pending.append(QueuedName(sequence: 9, id: "c"))
        bench.tell(.listed(bench.pending))
        bench.tell(.send(1))
        bench.pass(.seconds(599))
        #expect(bench.log.count == 1)
        bench.other = .accepted
        bench.pass(.seconds(1))
        #expect(bench.pending == [])
    }

    /// a new report does not wait for the others' next round.
    @Test func aNewReportIsTriedAtOnce() {
        var bench = Bench(["a"])
        bench.other = .retry(after: nil, .unreachable)
        bench.begin()
        bench.pass(.seconds(10))
        bench.pending.append(QueuedName(sequence: 2, id: "b"))
        bench.tell(.listed(bench.pending))
        #expect(bench.times(of: "b") == [10])
        #expect(bench.times(of: "a") == [0])
    }

    ///
    @Test func nothingIsSentAfterTheRegistrationIsLost() {
        var bench = Bench(["a", "b"])
        bench.answers["a"] = .deviceDropped(reason: "client_disabled")
        bench.begin()
        #expect(bench.log.map(\.id) == ["a"])
        #expect(bench.machine.wake == nil && !bench.machine.isConfigured)
        bench.tell(.listed([QueuedName(sequence: 3, id: "c")]))
        bench.pass(.seconds(3600))
        #expect(bench.log.count == 1)
    }

    /// two at once, both must end.
    @Test func testsHere() {
        var bench = Bench(["a"])
        bench.tell(.testsHere(true))
        bench.begin()
        bench.pass(.seconds(3600))
        #expect(bench.log.isEmpty)
        bench.tell(.testsHere(false))
        #expect(bench.log.count == 1)
    }

    /// A suspended machine wakes with one round, not with one for each minute that it slept.
    @Test func aLongSleepIsOneRound() {
        var bench = Bench(["a"])
        bench.other = .retry(after: nil, .unreachable)
        bench.begin()
        bench.now = bench.now + .seconds(86_400)
        bench.tell(.woken)
        bench.tell(.woken)
        #expect(bench.log.count == 2)
    }
}
