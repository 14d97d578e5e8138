public import MeasurementModel

/// Thrown by a collector that knows what its line in the report should say. Any other error becomes `failed` for the reason `error`.
public struct CollectorFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public let state: CollectorRecord.State
    /// A word for programs to compare.
    public let reason: StateReason
    /// For people: what happened, to what, and what to do. It is part of the report: no secrets, positions, network names or paths.
    public let detail: String
    /// The same for people at this machine, with what the report must not have, such as paths; nil where the detail says it all.
    public let local: String?

    public init(_ reason: StateReason, _ detail: String, local: String? = nil, state: CollectorRecord.State = .failed) {
        self.state = state
        self.reason = reason
        self.detail = detail
        self.local = local
    }

    /// For people at this machine.
    public var description: String { local ?? detail }
}
