public import MeasurementModel

/// Thrown by a collector that knows what its line in the report should say. Any other error becomes `failed` for the reason `error`.
public struct CollectorFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public let state: CollectorRecord.State
    /// A word for programs to compare.
    public let reason: StateReason
    /// For people: what happened, to what, and what to do. It is part of the report: no secrets, positions or network names.
    public let detail: String

    public init(_ reason: StateReason, _ detail: String, state: CollectorRecord.State = .failed) {
        self.state = state
        self.reason = reason
        self.detail = detail
    }

    public var description: String { detail }
}
