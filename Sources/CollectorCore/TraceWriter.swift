public import MeasurementModel

/// Where a collector puts what it saw. Every method may be called from any thread and never blocks for long.
public protocol TraceWriter: Sendable {
    /// Hands over all current values. The recorder drops what is not declared, not permitted or not a value (NaN, an empty text), and
    /// records a snapshot if a field has changed by its rule since the last recorded one.
    ///
    /// - Parameters:
    ///   - values: by the fields' names. What is not known is left out.
    ///   - instant: when the values were so; nil means now.
    /// - Returns: whether a snapshot was recorded.
    @discardableResult
    func record(_ values: [String: FieldValue], at instant: MonotonicInstant?) -> Bool

    /// A time in which something may have been missed.
    func gap(_ event: GapEvent)

    /// The collector cannot see its subject, for a reason that is a state and not an error. The next record, or ``available()``, ends it.
    func unavailable(_ reason: StateReason, detail: String?)

    /// The subject can be seen again, although nothing is recorded yet.
    func available()

    /// Its subject exists, and the permission to look at it does not.
    func denied(_ reason: StateReason, detail: String?)

    /// The state was asked for again as a whole because events had been lost.
    func resynced()

    /// A reading that was refused, and why: a word, counted in the honesty record.
    func rejected(_ reason: String, count: Int)

    /// How a field, or a group of fields, is known.
    func provenance(_ subject: String, _ source: String)
}

extension TraceWriter {
    /// The same for values that are so now.
    @discardableResult
    public func record(_ values: [String: FieldValue]) -> Bool { record(values, at: nil) }

    /// The same without words for people.
    public func unavailable(_ reason: StateReason) { unavailable(reason, detail: nil) }
    /// The same for one reading.
    public func rejected(_ reason: String) { rejected(reason, count: 1) }
}

/// The begin or end of a gap. Gaps of different reasons may overlap.
public enum GapEvent: Sendable {
    case began(StateReason, at: MonotonicInstant? = nil)
    case ended(StateReason, at: MonotonicInstant? = nil)
    case passed(StateReason, from: MonotonicInstant, to: MonotonicInstant)
}

/// A word that says why, such as `no_hardware` or `gpsd_away`: stable, for programs to compare.
public struct StateReason: Sendable, Hashable, ExpressibleByStringLiteral {
    public let word: String

    public init(stringLiteral word: String) { self.word = word }
    public init(_ word: String) { self.word = word }

    /// The kernel or the socket dropped events.
    public static let eventLoss: StateReason = "event_loss"
    /// Records came faster than a trace takes them.
    public static let flood: StateReason = "flood"
    /// The collector said nothing for longer than it promises.
    public static let silent: StateReason = "silent"
    /// The collector did not end with the test: since its last word nobody knows what it would have seen.
    public static let hung: StateReason = "hung"
    /// The trace has reached its length limit.
    public static let traceFull: StateReason = "trace_full"
    /// There is no such device on this machine.
    public static let noHardware: StateReason = "no_hardware"
    /// The operating system does not let this process look.
    public static let noPermission: StateReason = "no_permission"
    /// The program that would know is not running.
    public static let noDaemon: StateReason = "no_daemon"
}
