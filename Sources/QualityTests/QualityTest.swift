public import CollectorCore
public import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// One network-quality test: a measurement, and collectors that record beside it what the network and the place were like.
///
///     let test = try QualityTest(type: "WEB", subject: "website", gate: gate, target: "server.example", collectors: [MyCollector()])
///     let report = try await test.run { session in try await measure() }
///
/// Collectors neither delay nor fail nor distort the measurement: it starts without waiting for any of them, its end is taken before they
/// are stopped, and what became of each stands in the report.
public final class QualityTest: Sendable {
    /// How a test is run, beside what it measures and who may.
    public struct Settings: Sendable {
        /// Limits, deadline, clock, logger and observer of the collectors.
        public var collectors = CollectorHost.Settings()
        /// How the collectors learn the target's addresses.
        public var lookup = TargetLookup.resolver
        /// Told of the test's begin and end, and given its report: a queue's side.
        public var activity: any TestActivity = NoActivity()
        /// Receives exactly the report that the activity got, after it.
        public var listener: (@Sendable (Report) -> Void)?
        /// Facts about this machine for the report.
        public var device = DeviceFacts.ofThisMachine

        public init() {}
    }

    public let kind: TestKind
    public let target: String?
    public let permissions: Permissions
    private let gate: any TestGate
    private let host: CollectorHost
    private let settings: Settings
    private let hasRun = Atomic(false)

    /// Asks the gate. Nothing is started.
    ///
    /// - Parameters:
    ///   - type: of the test, such as `WEB`.
    ///   - subject: of the test, such as `website`.
    ///   - gate: says whether it may run.
    ///   - target: host name or address that is measured against; nil where there is none.
    ///   - collectors: what is recorded beside the measurement.
    ///   - permissions: what the collectors may see. Nothing, unless it is granted here.
    ///   - settings: limits, listener, and where the report goes.
    /// - Throws: what the gate throws, or ``TestRefusal``.
    public init(
        type: String, subject: String, gate: some TestGate, target: String? = nil, collectors: [any Collector] = [],
        permissions: Permissions = .none, settings: Settings = Settings()
    ) throws {
        guard !type.isEmpty, !subject.isEmpty else {
            throw TestRefusal(.badKind, "a test needs a type and a subject, such as 'NETWORK' and 'ping'")
        }
        kind = TestKind(type: type, subject: subject)
        _ = try gate.admit(kind)
        self.gate = gate
        self.target = target
        self.permissions = permissions
        self.settings = settings
        host = CollectorHost(collectors: collectors, settings: settings.collectors)
    }

    /// Runs the measurement with the collectors beside it, and gives the report.
    ///
    /// A measurement that throws, and one whose task is cancelled, is still a measurement: it has a report too, with `finished_reason`
    /// `failed` or `aborted` and the error's text in its result. The report is what the activity and the listener got.
    ///
    /// - Parameter measure: gives the result for the report: any `Encodable`. Numbers that are not finite are left out. It runs where the
    ///   caller runs.
    /// - Throws: only when no test was run: the gate has closed since this object was made, or it has run its one test already.
    public func run(_ measure: (TestSession) async throws -> some Encodable & Sendable) async throws -> Report {
        guard hasRun.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else {
            throw TestRefusal(.alreadyRun, "this test was run already: make a new one for each run")
        }
        let admission = try gate.admit(kind)
        let id = MeasurementID.make()
        await settings.activity.begin(test: id)

        let clock = settings.collectors.clock
        let target = target.map { SessionTarget(host: $0) } ?? SessionTarget()
        let wallStart = clock.wall()
        let run = host.start(kind: kind, target: target, permissions: permissions, clockOffset: admission.clockOffset)
        if settings.lookup == .resolver { TargetResolver.start(target, clock: clock, logger: settings.collectors.logger) }
        let session = TestSession(
            id: id, kind: kind, target: target, startedAt: run.startedAt, clock: clock,
            logger: settings.collectors.logger.named("measurement"), deadline: admission.left.map { run.startedAt + $0 })

        var measured = await Measured.of(measure, session)
        let end = clock.now()
        // What was measured beyond the granted time does not count as a test.
        if let deadline = session.deadline, end >= deadline { measured = Measured(reason: .aborted, result: measured.result) }
        let ending = Ending(
            id: id, kind: kind, admission: admission, permissions: permissions, device: settings.device, wallStart: wallStart,
            wallEnd: clock.wall(), start: run.startedAt, end: end, target: target, measured: measured)
        // Detached, because a cancelled test still gives its collectors their time to stop, and still leaves its report.
        return await Task.detached { [settings] in
            let report = ending.report(await run.finish(endedAt: end))
            await settings.activity.end(test: id, with: report)
            settings.listener?(report)
            return report
        }.value
    }

    /// The same with a completion handler, for callers without concurrency. The handler is called once, on no particular thread.
    ///
    /// - Returns: the running test; cancelling it aborts the test, which still completes with a report.
    @discardableResult
    public func run<Value: Encodable & Sendable>(
        _ measure: @escaping @Sendable (TestSession) async throws -> Value,
        completion: @escaping @Sendable (Result<Report, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task.detached {
            do {
                completion(.success(try await self.run(measure)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}

/// How a measurement ended.
struct Measured: Sendable {
    let reason: Report.FinishedReason
    let result: JSONValue?

    static func of(_ measure: (TestSession) async throws -> some Encodable & Sendable, _ session: TestSession) async -> Measured {
        do {
            let value = try await measure(session)
            let result = try ResultEncoder.json(value)
            let reason = (value as? any MeasurementResult)?.finishedReason ?? .completed
            return Measured(reason: Task.isCancelled ? .aborted : reason, result: result)
        } catch {
            let text = String(String(describing: error).prefix(2000))
            let isAbort = Task.isCancelled || error is CancellationError
            return Measured(reason: isAbort ? .aborted : .failed, result: .object(["error": .string(text)]))
        }
    }
}
