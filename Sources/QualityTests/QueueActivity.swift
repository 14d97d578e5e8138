public import MeasurementModel
public import MeasurementSync

/// Tests that silence a queue while they run, and leave it their reports.
public struct QueueActivity: TestActivity {
    private let queue: MeasurementQueue

    public init(_ queue: MeasurementQueue) { self.queue = queue }

    /// Returns when nothing is sent any more.
    public func begin(test id: String) async { await queue.onTestStarted() }

    /// The report is on the disk before the queue goes on, so that it is the first thing that it finds. A report that the disk does not
    /// take is told as an event of the queue's and in its log: it does not fail the test.
    public func end(test id: String, with report: Report) async {
        try? await queue.queueMeasurement(report: report)
        queue.onTestFinished()
    }
}
