internal import CollectorCore
internal import MeasurementModel

/// The ordinary run: what the collector does when nothing is odd. The other runs are compared with it.
struct OrdinaryRun: Sendable {
    let outcome: Trial.Outcome
    /// It hands over values by itself, so that its silence means something.
    let isTalkative: Bool
    let observation: Duration

    /// So many records in half an observation make a collector talkative.
    private static let talk = 3

    static func run(_ host: TrialHost) async -> OrdinaryRun {
        let trial = host.start()
        let observation = host.settings.observation
        // From when it has had its turn: a busy machine, or a program that has to be started, does not shorten what is watched.
        await trial.wait(atMost: max(observation, .seconds(10))) { $0.isCollecting || isRefused(host) }
        await trial.wait(atMost: observation / 2)
        let before = trial.seen.records
        await trial.wait(atMost: observation / 2)
        let isTalkative = trial.seen.records - before >= talk
        return OrdinaryRun(outcome: await trial.finish(), isTalkative: isTalkative, observation: observation)
    }

    /// Whether the host does not start it: then there is nothing to wait for.
    private static func isRefused(_ host: TrialHost) -> Bool {
        guard let descriptor = host.ledger.notes.descriptor else { return false }
        return descriptor.problem != nil || !descriptor.requires.allSatisfy { host.settings.permissions.allows($0) }
    }

    /// Why no other run would tell anything; nil where they would.
    var obstacle: String? {
        let record = outcome.record
        if outcome.isStuck { return "it does not stop" }
        if !outcome.seen.isCollecting { return "it is not started: \(outcome.state)" }
        if record.state == .failed { return "it fails: \(outcome.state)" }
        return nil
    }

    // MARK: Checks

    func records() -> CheckResult {
        let check = ConformanceCheck.records
        let (record, seen) = (outcome.record, outcome.seen)
        if record.state == .failed { return check.failed("it ended with \(outcome.state)") }
        guard seen.isCollecting else { return check.notApplicable("it is not started: \(outcome.state)") }
        if seen.records > 0 {
            return check.passed("\(counted(record.recorded, "snapshot")) of \(counted(seen.records, "set")) of values")
        }
        if record.state == .unavailable || record.state == .denied {
            guard record.reason?.isEmpty == false else { return check.failed("it said '\(record.state.rawValue)' without a reason") }
            return check.passed(outcome.state)
        }
        let host = [StateReason.silent.word, StateReason.hung.word, StateReason.flood.word]
        if let gap = record.gaps.first(where: { !host.contains($0.reason) }) { return check.passed("a gap says '\(gap.reason)'") }
        if outcome.isStuck { return check.notApplicable("it does not stop") }
        return check.failed("in \(observation.words) it handed over nothing, and gave no reason")
    }

    /// The recorder's own words for what it does not take; all others are the collector's.
    private static let refusals = ["undeclared", "type:", "not_finite:", "empty:", "too_long:"]

    func values() -> CheckResult {
        let check = ConformanceCheck.values
        guard outcome.seen.records > 0 else { return check.notApplicable("it handed over no values") }
        let refused = outcome.record.rejected.filter { key, _ in Self.refusals.contains { key.hasPrefix($0) } }
        if outcome.record.gaps.contains(where: { $0.reason == StateReason.flood.word }) {
            let lost = outcome.record.rejected[StateReason.flood.word] ?? 0
            return check.failed(
                "it said too much: \(counted(lost, "record")) thrown away in \(observation.words)",
                remedy: "Say a reading once, some times a second at most: what is more than the host takes is lost.")
        }
        guard refused.isEmpty else {
            let list = refused.sorted { $0.key < $1.key }.prefix(6).map { "\($0.key) (\(counted($0.value, "time")))" }
            return check.failed("of \(counted(outcome.seen.records, "set")) of values the recorder dropped \(list.joined(separator: ", "))")
        }
        return check.passed(counted(outcome.seen.records, "set"))
    }

    func timeStamps() -> CheckResult {
        let check = ConformanceCheck.timeStamps
        guard outcome.seen.records > 0 else { return check.notApplicable("it handed over no values") }
        guard outcome.seen.stamped > 0 else { return check.notApplicable("it leaves the moment to the recorder") }
        return Self.problem(ofStamps: outcome.seen).map { check.failed($0) } ?? check.passed(counted(outcome.seen.stamped, "moment"))
    }

    static func problem(ofStamps seen: RunWatch.Seen) -> String? {
        var parts: [String] = []
        if seen.stampedEarly > 0 { parts.append("\(seen.stampedEarly) before the test's start, by up to \(seen.earliest.words)") }
        if seen.stampedAhead > 0 { parts.append("\(seen.stampedAhead) in the future, by up to \(seen.furthest.words)") }
        return parts.isEmpty ? nil : "of \(counted(seen.stamped, "moment")) \(parts.joined(separator: " and "))"
    }

    func silence(_ promised: Duration?) -> CheckResult {
        let check = ConformanceCheck.silence
        guard let promised else { return check.notApplicable("it promises nothing") }
        let gaps = outcome.record.gaps.filter { $0.reason == StateReason.silent.word }
        if let longest = gaps.map({ ($0.to ?? $0.from) - $0.from }).max() {
            return check.failed("it promises a word each \(promised.words), and was silent for \(longest.words)")
        }
        guard !outcome.returnedEarly else { return check.notApplicable("it returned before the test's end") }
        guard promised < observation else {
            return check.notApplicable("it promises a word each \(promised.words), and was watched for \(observation.words) only")
        }
        return check.passed("a word each \(promised.words)")
    }

    /// What is worse in another run than in this one, in words; nil where nothing is.
    func problem(in other: Trial.Outcome, deadline: Duration) -> String? {
        if other.isStuck { return "it did not return within \(deadline.words) of the test's end (\(other.state))" }
        if other.record.state == .failed { return "it ended with \(other.state)" }
        if other.returnedEarly, !outcome.returnedEarly { return "it returned before the test's end, which it does not do otherwise" }
        if outcome.seen.said > 0, other.seen.said == 0 { return "it said nothing, which it does otherwise" }
        return nil
    }
}
