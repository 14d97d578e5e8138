internal import CollectorCore
internal import MeasurementModel

/// Ends under odd conditions.
extension ConformanceProgram {
    /// The collector's first turn comes when the test is over: the wrapper holds it until then, so that no race decides.
    func stopAtOnce(_ ordinary: OrdinaryRun) async -> CheckResult {
        let check = ConformanceCheck.stopAtOnce
        let rounds = max(3, host.settings.runs / 10)
        for round in 1...rounds where !Task.isCancelled {
            let outcome = await host.start { $0.holdsUntilCancelled = true }.finish()
            if outcome.isStuck {
                return check.failed("in round \(round) it did not return within \(deadline.words) (\(outcome.state))")
            }
            if outcome.record.state == .failed { return check.failed("in round \(round) it ended with \(outcome.state)") }
            if outcome.seen.records > 1 {
                return check.failed("in round \(round) it handed over \(outcome.seen.records) sets of values although the test was over")
            }
        }
        return check.passed("\(rounds) times")
    }

    /// A trace cannot refuse, but it can be full: here it is from the start, and tells so with each call.
    func notTaken(_ ordinary: OrdinaryRun) async -> CheckResult {
        let check = ConformanceCheck.notTaken
        let trial = host.start {
            $0.limits.burst = 0
            $0.limits.recordsPerSecond = 0
        }
        await trial.wait(atMost: host.settings.observation) { $0.said >= 20 }
        let outcome = await trial.finish()
        if outcome.isStuck {
            return check.failed("with a trace that takes nothing it did not return within \(deadline.words) (\(outcome.state))")
        }
        if outcome.record.state == .failed { return check.failed("with a trace that takes nothing it ended with \(outcome.state)") }
        return check.passed("\(counted(outcome.seen.said, "call")) refused")
    }

    func permissions(_ ordinary: OrdinaryRun) async -> CheckResult {
        let check = ConformanceCheck.permissions
        guard let descriptor = host.ledger.notes.descriptor else { return check.notApplicable("it has not said what it records") }
        guard descriptor.requires.isEmpty else {
            let outcome = await host.start { $0.permissions = .none }.finish()
            guard outcome.record.state == .denied, !outcome.seen.isCollecting else {
                return check.failed("it requires \(descriptor.requires.map(\.rawValue)), and without it ended with \(outcome.state)")
            }
            return check.passed("not started")
        }
        guard descriptor.allFields.contains(where: { $0.field.permission != nil }) else {
            return check.notApplicable("no field needs a permission")
        }
        let trial = host.start { $0.permissions = .none }
        await untilHeard(trial, ordinary)
        await trial.wait(atMost: host.settings.observation / 2)
        let outcome = await trial.finish()
        if let problem = ordinary.problem(in: outcome, deadline: deadline) { return check.failed(problem) }
        let withheld = outcome.record.withheld
        guard withheld.isEmpty else {
            let names = withheld.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
            return check.noted("it hands over \(names) without the permission; the recorder drops it")
        }
        return check.passed()
    }
}
