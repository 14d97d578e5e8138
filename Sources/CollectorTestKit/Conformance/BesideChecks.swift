internal import CollectorCore
internal import MeasurementModel

/// What happens beside a run: another test, the target, the wall clock.
extension ConformanceProgram {
    /// For what happens soon in a collector that conforms, and has to be given up on in one that does not.
    private var patience: Duration { max(host.settings.observation * 4, .seconds(5)) }

    /// Whoever says something in the ordinary run is waited for until it does here, so that a slow start looks like none.
    func untilHeard(_ trial: Trial, _ ordinary: OrdinaryRun) async {
        if ordinary.outcome.seen.said > 0 { await trial.wait(atMost: patience) { $0.said > 0 } }
    }

    func twoTests(_ ordinary: OrdinaryRun) async -> CheckResult {
        let check = ConformanceCheck.twoTests
        let trials = [host.start(), host.start()]
        for trial in trials { await untilHeard(trial, ordinary) }
        let first = await trials[0].finish()
        let goesOn = ordinary.isTalkative ? await goesOn(trials[1]) : true
        if !ordinary.isTalkative { await trials[1].wait(atMost: host.settings.observation / 4) }
        let second = await trials[1].finish()
        for (name, outcome) in [("first", first), ("second", second)] {
            if let problem = ordinary.problem(in: outcome, deadline: deadline) { return check.failed("in the \(name) test \(problem)") }
        }
        if !goesOn { return check.failed("when the first test had ended, it said nothing more in the second one for \(patience.words)") }
        return check.passed()
    }

    func target(_ ordinary: OrdinaryRun) async -> CheckResult {
        let check = ConformanceCheck.target
        let target = SessionTarget(host: "target.invalid")
        let trial = host.start { $0.target = target }
        await trial.wait(atMost: host.settings.observation / 2) { $0.said > 0 }
        // Once it waits again: for the collector the news comes in the middle of something.
        await trial.wait(atMost: host.settings.observation / 8)
        target.resolve(to: host.settings.anyAddresses, at: .now())
        await untilHeard(trial, ordinary)
        let goesOn = ordinary.isTalkative ? await goesOn(trial) : true
        await trial.wait(atMost: host.settings.observation / 4)
        let outcome = await trial.finish()
        if let problem = ordinary.problem(in: outcome, deadline: deadline) { return check.failed(problem) }
        if !goesOn { return check.failed("when the target had become known, it said nothing more for \(patience.words)") }
        return check.passed()
    }

    func clockStep(_ ordinary: OrdinaryRun) async -> CheckResult {
        let check = ConformanceCheck.clockStep
        let clock = SteppingClock()
        let trial = host.start { $0.clock = clock }
        await untilHeard(trial, ordinary)
        var silentAfter: String?
        for (hours, way) in [(-1, "back by 1 h"), (2, "forth by 2 h"), (-1, "back by 1 h again")] where silentAfter == nil {
            clock.step(by: .seconds(hours * 3600))
            if ordinary.isTalkative {
                if await !goesOn(trial) { silentAfter = way }
            } else {
                await trial.wait(atMost: host.settings.observation / 8)
            }
        }
        let outcome = await trial.finish()
        if let problem = ordinary.problem(in: outcome, deadline: deadline) { return check.failed(problem) }
        if let silentAfter {
            return check.failed("after the wall clock was set \(silentAfter), it said nothing for \(patience.words)")
        }
        // With the ordinary run's moments wrong already, the clock is not the reason.
        if OrdinaryRun.problem(ofStamps: ordinary.outcome.seen) == nil, let problem = OrdinaryRun.problem(ofStamps: outcome.seen) {
            return check.failed("with steps of 1 h and 2 h, \(problem)")
        }
        let offsets = outcome.snapshots.map(\.offset)
        guard offsets == offsets.sorted() else { return check.failed("the trace is out of order") }
        return check.passed(ordinary.isTalkative ? counted(offsets.count, "snapshot") + " in order" : nil)
    }

    /// Whether a talkative collector still hands over values: a record that was under way may come, and then another one.
    private func goesOn(_ trial: Trial) async -> Bool {
        let before = trial.seen.records
        await trial.wait(atMost: patience) { $0.records >= before + 2 }
        return trial.seen.records >= before + 2 || trial.seen.returnedAt != nil || Task.isCancelled
    }
}
