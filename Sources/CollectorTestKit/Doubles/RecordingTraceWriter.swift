public import CollectorCore
public import MeasurementModel
internal import Synchronization

/// A trace that only remembers what a collector told it, in order: no declaration, permission or change rule is applied, so a test sees
/// what the collector really handed over.
public final class RecordingTraceWriter: TraceWriter {
    /// One call of the collector.
    public enum Call: Sendable {
        case record([String: FieldValue], at: MonotonicInstant?)
        case gap(GapEvent)
        case unavailable(StateReason, detail: String?)
        case available
        case denied(StateReason, detail: String?)
        case resynced
        case rejected(StateReason, count: Int)
        case provenance(subject: String, source: String)
    }

    private let told = Mutex<[Call]>([])

    public init() {}

    /// Everything so far, in order.
    public var calls: [Call] { told.withLock { $0 } }

    /// The values of every record so far, in order.
    public var records: [[String: FieldValue]] {
        calls.compactMap { if case .record(let values, _) = $0 { values } else { nil } }
    }

    /// The gap events so far, in order.
    public var gaps: [GapEvent] { calls.compactMap { if case .gap(let event) = $0 { event } else { nil } } }

    /// Always true: nothing is suppressed here.
    @discardableResult
    public func record(_ values: [String: FieldValue], at instant: MonotonicInstant?) -> Bool {
        note(.record(values, at: instant))
        return true
    }

    public func gap(_ event: GapEvent) { note(.gap(event)) }
    public func unavailable(_ reason: StateReason, detail: String?) { note(.unavailable(reason, detail: detail)) }
    public func available() { note(.available) }
    public func denied(_ reason: StateReason, detail: String?) { note(.denied(reason, detail: detail)) }
    public func resynced() { note(.resynced) }
    public func rejected(_ reason: String, count: Int) { note(.rejected(StateReason(reason), count: count)) }
    public func provenance(_ subject: String, _ source: String) { note(.provenance(subject: subject, source: source)) }

    private func note(_ call: Call) { told.withLock { $0.append(call) } }
}
