import CollectorCore
import CollectorTestKit
import LabSupport
import MeasurementModel
import Synchronization
import Testing

/// All of the kit's tests, one after the other: a run of the kit looks at what the whole process holds.
@Suite(.serialized) struct KitTests {}

/// A collector whose behaviour a test writes: it conforms but for that.
struct Specimen: Collector {
    typealias Body = @Sendable (any TraceWriter, CollectionSession) async throws -> Void

    static let value = FieldDeclaration.integer("value", privacy: .otherDiagnosticData, about: "A number that grows")

    var descriptor = CollectorDescriptor(name: "specimen", version: "1", trace: "specimen_trace", fields: [value])
    var body: Body = { trace, session in await tick(trace, session) }

    init(
        fields: [FieldDeclaration] = [value], trace: String = "specimen_trace", maximumSilence: Duration? = nil, requires: [Permission] = []
    ) {
        descriptor = CollectorDescriptor(
            name: "specimen", version: "1", trace: trace, fields: fields, requires: requires, maximumSilence: maximumSilence)
    }

    init(_ descriptor: CollectorDescriptor? = nil, _ body: @escaping Body) {
        self.init()
        if let descriptor { self.descriptor = descriptor }
        self.body = body
    }

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws { try await body(trace, session) }

    /// Hands over a new value every few milliseconds until the test is over.
    static func tick(_ trace: any TraceWriter, _ session: CollectionSession) async {
        var number = 0
        repeat {
            trace.record(["value": .integer(number)])
            number += 1
        } while !session.wait(until: session.clock.now() + .milliseconds(5)).isCancelled
    }
}

/// A value behind a lock, for closures.
final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result { value.withLock(body) }
}

extension CollectorConformance.Settings {
    /// Short runs. What a conforming collector does in time is waited for much longer than it takes on a machine under load.
    static func short(stopDeadline: Duration = .seconds(60)) -> CollectorConformance.Settings {
        var settings = CollectorConformance.Settings()
        settings.runs = 20
        settings.observation = .milliseconds(200)
        settings.stopDeadline = stopDeadline
        return settings
    }
}

/// Runs the kit over a collector that breaks one rule, and expects that this one is told, with a problem in these words.
func expectFailure(
    of check: ConformanceCheck, _ problem: String, stopDeadline: Duration = .seconds(60), isWatchedLong: Bool = false,
    _ collector: any Collector,
    at location: SourceLocation = #_sourceLocation
) async {
    var settings = CollectorConformance.Settings.short(stopDeadline: stopDeadline)
    settings.settle = .seconds(1)
    // Where something is expected to happen while it is watched: it takes milliseconds, and has time for a loaded machine.
    if isWatchedLong { settings.observation = isThreadSanitized ? .seconds(8) : .seconds(2) }
    let verdict = await CollectorConformance(collector, settings: settings).run()
    #expect(verdict.failed.map(\.name) == [check.rawValue], "\(verdict.text)", sourceLocation: location)
    #expect(!verdict.isConforming, sourceLocation: location)
    let result = verdict[check]
    #expect(result?.problem?.contains(problem) == true, "\(verdict)", sourceLocation: location)
    #expect(result?.remedy == check.remedy, sourceLocation: location)
}
