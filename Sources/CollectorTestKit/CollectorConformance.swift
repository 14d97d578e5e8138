public import CollectorCore
public import MeasurementModel
public import ProbeLog

/// Runs a collector through the contract that ``Collector`` states, and says what it does not keep.
///
/// In a test of the collector:
///
///     @Test func conforms() async {
///         let verdict = await CollectorConformance(MyCollector()).run()
///         #expect(verdict.isConforming, "\(verdict)")
///     }
///
/// The collector is run by the real host and records into the real recorder; in between everything is watched. A ``LateCollector`` is run
/// in the same way, and what it hands over is what is looked at. Every run starts on the thread that ``run(onEach:)`` happens to be on,
/// whose network namespace the collector's thread inherits; a task executor with a thread of its own keeps it to one.
///
/// What the kit can tell and what it cannot:
///
/// - Descriptors, threads, children, files and memory are those of the whole process. Something else that runs in it, such as other tests,
///   hides leaks that are smaller than one in every second cycle. In a process of its own ``Settings/ownsProcess`` makes the kit stricter.
/// - Memory is the heap of this process. What a child or mmap(2) takes is not seen; under a sanitizer nothing is.
/// - A child that has made itself an orphan, and a file outside the folders for temporary files, are not seen.
/// - Only what reads ``CollectionSession/clock`` sees the wall clock step.
/// - A value that is handed over without its permission is noted and no failure: the recorder drops it, so it gets nowhere.
/// - A collector that says nothing wrong in a run without its hardware conforms: run the kit where there is something to see.
public struct CollectorConformance: Sendable {
    /// How thorough the kit is, and what the collector is run with.
    public struct Settings: Sendable {
        /// Cycles of start and stop; at least one. Memory is looked at from twenty on.
        public var runs = 100
        /// How long after the test's end the collector may take to return: the host's own default. More for a machine under load.
        public var stopDeadline: Duration = .seconds(1)
        /// How long the ordinary run watches the collector. The others are measured by it.
        public var observation: Duration = .seconds(2)
        public var kind = TestKind(type: "CONFORMANCE", subject: "collector")
        /// What the tests measure against, a name or an address; nil is no target.
        public var targetHost: String?
        /// The addresses of a name. A literal address needs none.
        public var targetAddresses: [IPAddress] = []
        /// What is granted, but for the check that grants nothing: everything, so that everything is looked at. Values are looked at
        /// and forgotten; none is kept, and none is part of a verdict.
        public var permissions = Permissions(granted: Set(Permission.allCases))
        /// Octets by which the heap may grow from run to run. The host's own deadline takes some 700 of each run until it has passed.
        public var memoryPerRun = 4096
        /// How long after the cycles what stayed behind has time to end, such as a thread in a call that cannot be interrupted.
        public var settle: Duration = .seconds(5)
        /// How long late calls are listened for after the last run.
        public var linger: Duration = .milliseconds(200)
        /// The process does nothing else meanwhile: what more than a few cycles leave behind counts.
        public var ownsProcess = false
        public var logger: Logger = .silent

        public init() {}

        func makeTarget() -> SessionTarget {
            guard let targetHost else { return SessionTarget() }
            let target = SessionTarget(host: targetHost)
            target.resolve(to: targetAddresses, at: .now())
            return target
        }

        /// For a name that becomes known: the target's addresses, or this machine.
        var anyAddresses: [IPAddress] {
            if !targetAddresses.isEmpty { return targetAddresses }
            return [targetHost.flatMap { IPAddress($0) } ?? IPAddress("127.0.0.1")!]
        }
    }

    private let collector: any Collector
    public var settings: Settings

    public init(_ collector: any Collector, settings: Settings = Settings()) {
        self.collector = collector
        self.settings = settings
    }

    /// The name of one that has not said what it records. A late collector has one before; any other has none without its descriptor.
    private var nameBefore: String {
        (collector as? any LateCollector).map(\.descriptor.name) ?? String(describing: type(of: collector))
    }

    /// Runs every check. It takes about five times the observation, and what the cycles take.
    ///
    /// A cancelled task ends it after the run that is under way, and its verdict is incomplete.
    ///
    /// - Parameter onEach: called with each result as it is known, in no promised order.
    public func run(onEach: @escaping @Sendable (CheckResult) -> Void = { _ in }) async -> Verdict {
        let host = TrialHost(collector: collector, settings: settings)
        var program = ConformanceProgram(host: host, tell: onEach)
        await program.run()
        let order = Dictionary(uniqueKeysWithValues: ConformanceCheck.allCases.enumerated().map { ($1.rawValue, $0) })
        return Verdict(
            collector: host.ledger.notes.descriptor?.name ?? nameBefore,
            checks: program.results.sorted { order[$0.name, default: .max] < order[$1.name, default: .max] },
            isComplete: program.results.count == ConformanceCheck.allCases.count)
    }
}
