internal import MeasurementModel

/// How much of a grant is used up (docs/decisions/0005-grant-time.md). A value: time comes in, and what has to be stored comes out.
///
/// Within the boot of the grant's anchor the use is exact: the boot-time clock's difference. Across a restart of the machine nobody can
/// tell how long it was off; what counts is the time for which it ran. That is known as far as it was stored, so that it is stored in
/// advance, a minute at a time: a machine that goes down inside a minute has used all of it.
struct GrantMeter: Sendable, Hashable {
    /// The boot that the stored use was counted in.
    private(set) var bootID: String
    /// Used in earlier boots.
    private(set) var carried: Duration
    /// Used altogether, up to the end of the minute that was last begun.
    private(set) var paid: Duration

    /// What is stored in advance, and so what a restart of the machine costs at most.
    static let step = Duration.seconds(60)

    /// A grant that was asked for just now.
    init(anchor: GrantAnchor) {
        bootID = anchor.bootID
        carried = .zero
        paid = Self.step
    }

    /// What is used at a moment, and whether the meter has changed and must be stored before a test may rely on it.
    ///
    /// Time never runs backwards here: a clock that shows less than what was already stored shows wrong.
    mutating func use(anchor: GrantAnchor, bootID now: String, at instant: MonotonicInstant) -> (used: Duration, mustStore: Bool) {
        var mustStore = false
        if bootID != now {
            carried = paid
            bootID = now
            mustStore = true
        }
        // The boot-time clock starts with the boot: after a restart all of it counts.
        let running = bootID == anchor.bootID && carried == .zero ? instant - anchor.instant : carried + (instant - Self.bootStart)
        let used = max(running, paid - Self.step)
        if used > paid || mustStore {
            paid = used + Self.step
            mustStore = true
        }
        return (used, mustStore)
    }

    private static let bootStart = MonotonicInstant(nanoseconds: 0)

    var json: JSONValue {
        .object([
            "boot_id": .string(bootID), "carried_ms": .integer(carried.milliseconds), "paid_ms": .integer(paid.milliseconds),
        ])
    }

    init?(json: JSONValue) {
        guard let bootID = json["boot_id"]?.string, let carried = json["carried_ms"]?.int64, let paid = json["paid_ms"]?.int64,
            carried >= 0, paid >= 0, carried < 1 << 50, paid < 1 << 50
        else { return nil }
        self.bootID = bootID
        self.carried = .milliseconds(carried)
        self.paid = .milliseconds(paid)
    }
}
