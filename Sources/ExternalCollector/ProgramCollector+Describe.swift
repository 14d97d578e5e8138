public import CollectorCore
internal import MeasurementModel
internal import Synchronization

extension ProgramCollector {
    /// Asks the program what it records, without starting it to collect: for lists, and for the privacy manifest.
    ///
    /// - Throws: ``CollectorFailure`` that says why it could not be asked.
    public func describe() async throws -> CollectorDescriptor {
        let answer = Answer()
        var settings = CollectorHost.Settings()
        settings.stopDeadline = .seconds(1)
        let run = CollectorHost(collectors: [Question(collector: self, answer: answer)], settings: settings)
            .start(kind: TestKind(type: "NONE", subject: "describe"))
        await answer.wait(atMost: self.settings.limits.handshake + .seconds(3))
        let outcome = await run.finish()
        if let descriptor = answer.descriptor { return descriptor }
        if let failure = answer.failure { throw failure }
        let record = outcome.records[0]
        throw CollectorFailure(
            StateReason(record.reason ?? "error"), record.detail ?? "it did not say what it records", state: record.state)
    }
}

/// The collector under the host's care, which only answers.
private struct Question: LateCollector {
    let collector: ProgramCollector
    let answer: Answer
    var descriptor: CollectorDescriptor { collector.descriptor }

    func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
        defer { answer.finish() }
        do { try await collector.withCollector(during: session) { answer.descriptor = $0.descriptor } } catch let failure
            as CollectorFailure
        {
            // With what people at this machine may know.
            answer.failure = failure
            throw failure
        }
    }
}

private final class Answer: Sendable {
    private let found = Mutex<(descriptor: CollectorDescriptor?, failure: CollectorFailure?)>((nil, nil))
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    var descriptor: CollectorDescriptor? {
        get { found.withLock { $0.descriptor } }
        set { found.withLock { $0.descriptor = newValue } }
    }

    var failure: CollectorFailure? {
        get { found.withLock { $0.failure } }
        set { found.withLock { $0.failure = newValue } }
    }

    func finish() { continuation.finish() }

    /// The limit is for a host that could not start it at all, and for a thread that the kernel holds.
    func wait(atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in self.stream {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
