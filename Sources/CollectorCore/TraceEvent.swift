public import MeasurementModel

/// What happens in a trace, told as it happens: for a live view. The observer is called on the collector's thread and must not block.
public struct TraceEvent: Sendable {
    public enum Kind: Sendable {
        case snapshot(Snapshot)
        case gap(CollectorRecord.Gap)
        case state(CollectorRecord.State, reason: String?)
    }

    public let trace: String
    public let kind: Kind
}

public typealias TraceObserver = @Sendable (TraceEvent) -> Void
