import MeasurementModel
import Testing

@testable import CollectorCore

/// When the state is asked for, in virtual time.
struct CollectionScheduleTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// Plays events, in milliseconds since the start, and gives when the state was asked for.
    private static func played(_ events: [Int], until end: Int, poll: Duration = .seconds(10)) -> [Int] {
        var schedule = CollectionSchedule(pollInterval: poll, now: start)
        var asked: [Int] = []
        for millisecond in 0...end {
            let now = start + .milliseconds(millisecond)
            if events.contains(millisecond) { schedule.news(at: now) }
            if schedule.isDue(at: now) {
                asked.append(millisecond)
                schedule.collected(at: now)
            }
        }
        return asked
    }

    @Test("R-12 At the start at once, when it has settled, and then by the poll")
    func poll() { #expect(Self.played([], until: 25000) == [0, 50, 10050, 20050]) }

    @Test("R-12 M10 A single event: at once, and once more when it has settled")
    func single() { #expect(Self.played([1000], until: 3000) == [0, 50, 1000, 1050]) }

    @Test("R-12 A burst: its first event at once, the rest when it has settled")
    func burst() { #expect(Self.played(Array(1000...1200), until: 3000) == [0, 50, 1000, 1250]) }

    @Test("R-12 P4 A storm without end is asked about twice a second")
    func storm() { #expect(Self.played(Array(1000...3000), until: 4000) == [0, 50, 1000, 1500, 2000, 2500, 3000, 3050]) }

    @Test("The poll counts from the last look")
    func pollAfterEvent() { #expect(Self.played([9000], until: 20000) == [0, 50, 9000, 9050, 19050]) }
}
