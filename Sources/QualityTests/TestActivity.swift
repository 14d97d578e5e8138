public import MeasurementModel

/// Told when tests run on this device, and given their reports: the queue's side of a test.
///
/// Nothing of it may fail a test: what goes wrong behind it is told by its own means.
public protocol TestActivity: Sendable {
    /// A test begins: from now on nothing is uploaded.
    func begin(test id: String) async
    /// The test is over, and this is its report. When the call returns, the report is as safe as it will be.
    func end(test id: String, with report: Report) async
}

/// Where tests leave their reports with nobody.
public struct NoActivity: TestActivity {
    public init() {}
    public func begin(test id: String) async {}
    public func end(test id: String, with report: Report) async {}
}
