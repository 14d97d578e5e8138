import MeasurementModel
import ProbeLog
import Synchronization

@testable import MeasurementSync

/// Reports as small as they can be.
enum Sample {
    static func json(_ id: String, padding: Int = 0) -> [UInt8] {
        let object: JSONObject = [
            "schema": .string(Report.schema), "id": .string(id), "result": .string(String(repeating: "x", count: padding)),
        ]
        return JSONValue.object(object).utf8()
    }

    static func report(_ id: String) -> Report {
        Report(
            id: id, kind: TestKind(type: "NETWORK", subject: "ping"), client: nil, clientVersion: "1", device: [:], startedAt: .now(),
            finishedAt: .now(), clockOffset: nil, duration: .seconds(1), finishedReason: .completed, target: nil, result: nil, traces: [],
            collectors: [], permissions: [:], time: [:])
    }
}

extension MeasurementQueue {
    /// With times that suit a test.
    static func forTest(
        _ path: String, limit: Int = 50, retry: Duration = .seconds(60), uploadLimit: Duration = .seconds(600)
    ) -> MeasurementQueue {
        var settings = Settings()
        settings.limit = limit
        settings.retryInterval = retry
        return MeasurementQueue(
            stateDirectory: path, settings: settings, logger: .silent, lookAgain: .milliseconds(100), grace: .milliseconds(100),
            uploadLimit: uploadLimit)
    }

    func add(_ ids: String...) throws { for id in ids { try queueMeasurement(id: id, json: Sample.json(id)) } }

    var pendingIDs: [String] { (try? pending().map(\.id)) ?? [] }
}

/// An uploader whose every answer a test gives, and that writes down what was asked of it.
final class ScriptedUploader: ReportUploader {
    private let script: @Sendable (String) async -> UploadOutcome
    private let seen = Mutex<[String]>([])
    private let flowing = Mutex(0)
    private let cancelled = Mutex(0)

    init(_ script: @escaping @Sendable (String) async -> UploadOutcome = { _ in .accepted }) { self.script = script }

    /// Ids in the order of their uploads.
    var uploads: [String] { seen.withLock { $0 } }
    /// Uploads under way.
    var underWay: Int { flowing.withLock { $0 } }
    var cancellations: Int { cancelled.withLock { $0 } }

    func upload(id: String, body: [UInt8]) async -> UploadOutcome {
        seen.withLock { $0.append(id) }
        flowing.withLock { $0 += 1 }
        defer { flowing.withLock { $0 -= 1 } }
        let outcome = await script(id)
        if Task.isCancelled { cancelled.withLock { $0 += 1 } }
        return outcome
    }

    /// Never ends but by cancellation.
    static func hang() async -> UploadOutcome {
        try? await Task.sleep(for: .seconds(3600))
        return .retry(after: nil, .unreachable)
    }
}

extension UploadFailure {
    static let unreachable = UploadFailure(code: "unreachable", message: "no route", isServerWide: true)
    static let broken = UploadFailure(code: "server_error", message: "the server failed (500)", isServerWide: false)
}

/// Waits for something that is bound to come.
func eventually(_ what: String = "", within limit: Duration = .seconds(20), _ condition: () -> Bool) async -> Bool {
    let end = MonotonicInstant.now() + limit
    while !condition() {
        guard .now() < end else { return false }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return true
}
