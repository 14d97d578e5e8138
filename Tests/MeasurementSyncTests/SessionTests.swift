import LabSupport
import MeasurementModel
import QualityTests
import Synchronization
import Testing

@testable import MeasurementSync

/// A quality test and its queue.
@Suite struct SessionTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    /// silent while it runs, safe before the listener hears, sent right after, and the same octets everywhere.
    @Test func aTestAndItsReport() async throws {
        let uploader = ScriptedUploader()
        let queue = MeasurementQueue.forTest(lab.path)
        try queue.start(uploader: uploader)
        let heard = Mutex<[(report: String, waiting: String?)]>([])
        var settings = QualityTest.Settings()
        settings.activity = QueueActivity(queue)
        let path = lab.path
        settings.listener = { report in
            let name = QueuedName(sequence: 2, id: report.id).file
            let file = TemporaryFolder.read("\(path)/queue/\(name)")
            heard.withLock { $0.append((report.json.text(), file)) }
        }
        let test = try QualityTest(type: "NETWORK", subject: "ping", gate: OpenGate(), collectors: [], settings: settings)
        let report = try await test.run { _ in
            try queue.queueMeasurement(id: "earlier", json: Sample.json("earlier"))
            try await Task.sleep(for: .milliseconds(300))
            #expect(uploader.uploads == [])
            return 1
        }
        let listened = heard.withLock { $0 }
        #expect(listened.map(\.report) == [report.json.text()])
        // By then it may have been sent already; a file that is there is whole.
        if let waiting = listened.first?.waiting { #expect(waiting == report.json.text()) }
        #expect(await eventually { uploader.uploads == ["earlier", report.id] })
        await queue.close()
    }
}
