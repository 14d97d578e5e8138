public import MeasurementModel

/// A result that knows its own form in the report, and how the measurement ended.
public protocol MeasurementResult: Encodable, Sendable {
    /// The result as the report shows it.
    var json: JSONValue { get }
    /// A measurement that did not succeed is still one: it returns its findings and says so here. Throwing is for one that could not be
    /// made at all.
    var finishedReason: Report.FinishedReason { get }
}

extension MeasurementResult {
    public var finishedReason: Report.FinishedReason { .completed }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
