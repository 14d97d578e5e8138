import CollectorTestKit
import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync

/// the log category has what the events have, and says no more than it may.
@Suite struct LogTests {
    @Test func theCategoryTellsEveryOutcome() async throws {
        let lab = try TemporaryFolder()
        let log = CollectedLog()
        let queue = MeasurementQueue(stateDirectory: lab.path, logger: log.logger())
        let uploader = ScriptedUploader { id in
            switch id {
            case "bad": .refusedForGood(code: "document_invalid", detail: "no type")
            case "late": .retry(after: nil, .broken)
            default: .accepted
            }
        }
        try queue.start(uploader: uploader)
        try queue.add("good", "bad", "late")
        #expect(await eventually { uploader.uploads.count == 3 && !queue.isSending() })
        await queue.close()
        #expect(log.lines.allSatisfy { $0.category == "MeasurementQueue" })
        let messages = log.lines.map(\.text).joined(separator: "\n")
        for part in ["report queued", "report sent", "refused for good", "will be tried again", "id=late", "code=server_error"] {
            #expect(messages.contains(part), "\(part)")
        }
    }
}
