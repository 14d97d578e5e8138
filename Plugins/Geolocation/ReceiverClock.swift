internal import MeasurementModel

/// When a report arrived, by the clocks of this machine.
struct Arrival: Sendable, Hashable {
    let instant: MonotonicInstant
    let wall: Timestamp
    /// Whether the kernel says that the wall clock is synchronised.
    let isClockSynchronised: Bool
}

/// One receiver's time, compared with itself: is a report new, and how late is it? It never asks whether the time is right, because a
/// receiver that lives in another year (the GPS week counter rolls over every 1024 weeks) still knows where it is.
struct ReceiverClock: Sendable {
    /// A step back of more than this is a fault of the receiver's date (rollover, midnight bug), not a report out of order.
    static let dateFault: Int64 = 12 * 3600 * 1000
    /// A smaller step back is believed once so many reports went on from there.
    static let persistence = 3
    /// Steps back up to this are what a receiver does that learns its leap seconds, and nothing to distrust.
    static let leapCorrection: Int64 = 60 * 1000
    /// Steps forward of more than this begin a new reckoning of lags.
    static let forwardStep: Int64 = 10 * 1000

    /// False for good once its date has stepped back by more than a leap correction.
    private(set) var isTrusted = true
    /// Grows whenever the receiver's time has stepped: lags of different bases cannot be compared.
    private(set) var base = 0
    private var last: Timestamp?
    /// The least `arrival - time` in milliseconds on this base: what a report that was not held up has.
    private var leastOffset: Int64?
    private var lower: (last: Timestamp, count: Int)?

    /// Whether a report of this time is about a new moment.
    mutating func admit(_ time: Timestamp, at arrival: MonotonicInstant) -> Refusal? {
        if let last {
            guard time != last else { return .repeated }
            if time < last, let refusal = stepBack(by: last.milliseconds - time.milliseconds, to: time) { return refusal }
        }
        lower = nil
        last = time
        let offset = Self.offset(time, arrival)
        if let least = leastOffset, offset < least - Self.forwardStep { rebase() }
        leastOffset = min(leastOffset ?? offset, offset)
        return nil
    }

    /// How much longer than the swiftest report on the same base this one took; nil when its base has passed.
    func lag(of time: Timestamp, at arrival: MonotonicInstant, base: Int) -> Duration? {
        guard base == self.base, let leastOffset else { return nil }
        return .milliseconds(Self.offset(time, arrival) - leastOffset)
    }

    /// The receiver has lost its fix, and may correct its clock before the next one: lags are reckoned anew. A loss that was itself held
    /// up proves nothing, because what follows it in the queue is held up too.
    mutating func lostFix(_ time: Timestamp?, at arrival: MonotonicInstant, within limit: Duration) {
        guard let time, let lag = lag(of: time, at: arrival, base: base), lag <= limit else { return }
        rebase()
    }

    /// A new connection: what was queued in the old one is gone, and with it the reckoning of lags.
    mutating func forgetLags() { rebase() }

    private mutating func stepBack(by step: Int64, to time: Timestamp) -> Refusal? {
        guard step <= Self.dateFault else {
            isTrusted = false
            rebase()
            return nil
        }
        if let seen = lower, time >= seen.last {
            if time > seen.last { lower = (time, seen.count + 1) }
        } else {
            lower = (time, 1)
        }
        guard let lower, lower.count >= Self.persistence else { return .timeBackwards }
        if step > Self.leapCorrection { isTrusted = false }
        rebase()
        return nil
    }

    private mutating func rebase() {
        base += 1
        leastOffset = nil
    }

    private static func offset(_ time: Timestamp, _ arrival: MonotonicInstant) -> Int64 {
        arrival.nanoseconds / 1_000_000 - time.milliseconds
    }
}

/// Whether a receiver's time can be true at all, judged by this machine's clock.
enum ReceiverTime {
    /// Earlier than this software: no receiver and no clock that says so is right. 2026-01-01.
    static let floor = Timestamp(milliseconds: 1_767_225_600_000)
    /// One day: more than any error of a time zone or a leap second, less than any rollover.
    static let tolerance: Int64 = 24 * 3600 * 1000

    static func isPlausible(_ time: Timestamp, wall: Timestamp) -> Bool {
        guard time >= floor else { return false }
        // A machine that started without a clock of its own cannot judge.
        guard wall >= floor else { return true }
        return abs(time.milliseconds - wall.milliseconds) <= tolerance
    }
}
