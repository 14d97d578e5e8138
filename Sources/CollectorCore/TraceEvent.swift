public import MeasurementModel

/// What happens in a trace, told as it happens: for a live view. The observer is called on the collector's thread and must not block.
public struct TraceEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        case snapshot(Snapshot)
        case gap(CollectorRecord.Gap)
        case state(CollectorRecord.State, reason: String?)
    }

    /// The trace's key in the report.
    public let trace: String
    public let kind: Kind
}

/// Hears of the events of all traces, on the collectors' threads: it must not block.
public typealias TraceObserver = @Sendable (TraceEvent) -> Void
