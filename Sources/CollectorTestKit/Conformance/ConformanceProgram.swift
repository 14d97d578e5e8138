internal import CollectorCore
internal import MeasurementModel

/// The order of the checks, and when they are not worth running.
struct ConformanceProgram {
    let host: TrialHost
    let tell: @Sendable (CheckResult) -> Void
    private(set) var results: [CheckResult] = []

    init(host: TrialHost, tell: @escaping @Sendable (CheckResult) -> Void) {
        self.host = host
        self.tell = tell
    }

    var deadline: Duration { host.settings.stopDeadline }

    private mutating func add(_ more: [CheckResult]) {
        // What a cancelled task has seen is the cancellation.
        guard !Task.isCancelled else { return }
        for result in more { tell(result) }
        results += more
    }

    mutating func run() async {
        let ordinary = await OrdinaryRun.run(host)
        let declaration = declaration(ordinary)
        add(declaration)
        if declaration.contains(where: { $0.name == ConformanceCheck.declaration.rawValue && $0.isFailed }) {
            return skip("the declaration has to be put right first")
        }
        add([
            ordinary.records(), ordinary.values(), ordinary.timeStamps(), ordinary.silence(host.ledger.notes.descriptor?.maximumSilence),
        ])
        if ordinary.outcome.isStuck {
            add([ConformanceCheck.startStop.failed("it did not return within \(deadline.words) (\(ordinary.outcome.state))")])
        }
        if let obstacle = ordinary.obstacle {
            await listen()
            return skip(obstacle)
        }
        add([await stopAtOnce(ordinary)])
        add([await notTaken(ordinary)])
        add([await permissions(ordinary)])
        add([await twoTests(ordinary)])
        add([await target(ordinary)])
        add([await clockStep(ordinary)])
        if !Task.isCancelled { add(await cycles(ordinary)) }
        await listen()
    }

    private func declaration(_ ordinary: OrdinaryRun) -> [CheckResult] {
        guard let descriptor = host.ledger.notes.descriptor else {
            let state = ordinary.outcome.state
            return [ConformanceCheck.declaration.failed("it never said what it records, and ended with \(state)")]
        }
        return DeclarationChecks.run(descriptor)
    }

    /// Late calls may still come: they are listened for after the last run.
    private mutating func listen() async {
        let linger = host.settings.linger
        try? await Task.sleep(for: linger)
        let notes = host.ledger.notes
        add([DeclarationChecks.sameDeclaration(notes, deadline: deadline), DeclarationChecks.lateCalls(notes, lingered: linger)])
    }

    private mutating func skip(_ why: String) {
        let done = Set(results.map(\.name))
        add(ConformanceCheck.allCases.filter { !done.contains($0.rawValue) }.map { $0.notApplicable(why) })
    }
}
