internal import CollectorCore
internal import ExternalCollector
internal import Glibc
internal import MeasurementModel

/// The checks of the protocol itself, each with a process of its own. Blocks.
struct ProgramChecks {
    let collector: ProgramCollector
    let settings: CollectorConformance.Settings
    let tell: @Sendable (CheckResult) -> Void

    private var deadline: Duration { settings.stopDeadline }
    private var handshake: Duration { collector.settings.limits.handshake }

    /// - Parameter only: of those that follow the descriptor; nil is all.
    func run(only: Set<ProgramCheck>? = nil) -> [CheckResult] {
        var results: [CheckResult] = []
        func add(_ result: CheckResult) {
            tell(result)
            results.append(result)
        }
        add(descriptor())
        guard !results[0].isFailed else {
            for check in ProgramCheck.allCases.dropFirst() { add(check.notApplicable("it has to say first what it records")) }
            return results
        }
        let checks: [(ProgramCheck, (ProgramCheck) throws -> CheckResult)] = [
            (.onlyAsked, onlyAsked), (.versions, versions), (.goesOn, goesOn), (.stopMessage, stopMessage), (.inputEnd, inputEnd),
            (.terminate, terminate), (.strangeInput, strangeInput), (.fullPipe, fullPipe), (.companions, companions),
        ]
        // One fault is told once: what it makes of the other checks says nothing more.
        var obstacle: String?
        var isOut = false
        for (check, body) in checks where only?.contains(check) ?? true {
            if let obstacle, isOut || ![.inputEnd, .terminate].contains(check) {
                add(check.notApplicable(obstacle))
                continue
            }
            do { add(try body(check)) } catch { add(check.failed("it could not be started again: \(error)")) }
            guard results.last?.isFailed == true else { continue }
            if check == .goesOn { (obstacle, isOut) = ("it does not go on for so long", true) }
            if check == .stopMessage { obstacle = "it does not end at 'stop' in any case" }
        }
        return results
    }

    // MARK: Before the start

    private func descriptor() -> CheckResult {
        let check = ProgramCheck.descriptor
        do {
            let begin = MonotonicInstant.now()
            var trial = try ProgramTrial(collector)
            trial.greet(version: 1)
            switch trial.next(within: handshake) {
            case .message(let object) where object["message"]?.string == "descriptor":
                let took = MonotonicInstant.now() - begin
                trial.stop()
                return check.passed("after \(took.words)")
            case .message(let object) where object["message"]?.string == "failed":
                return check.failed(
                    "it has failed: \(object["detail"]?.string ?? object["reason"]?.string ?? "it did not say why")", isAdvice: true)
            case .message(let object): return check.failed("its first message is '\(object["message"]?.string ?? "without a name")'")
            case .rubbish: return check.failed("its first line is no JSON object" + complaint(trial))
            case .nothing: return check.failed("it said nothing within \(handshake.words) of its start" + complaint(trial))
            case .ended:
                if let failure = try trial.startFailure(collector) { return check.failed("\(failure)", isAdvice: true) }
                return check.failed("\(trial.ending ?? "it ended") and had said nothing" + complaint(trial))
            }
        } catch { return check.failed("\(error)") }
    }

    private func complaint(_ trial: borrowing ProgramTrial) -> String {
        trial.complaints.isEmpty ? "" : "; the last of it on standard error: \(Complaint.last(trial.complaints))"
    }

    private func onlyAsked(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try ProgramTrial(collector)
        trial.greet(version: 1)
        _ = trial.next(within: handshake)
        if case .message(let object) = trial.next(within: .milliseconds(500)) {
            return check.failed("it said '\(object["message"]?.string ?? "")' before it was started")
        }
        trial.stop()
        trial.closeInput()
        guard trial.ends(within: deadline) else { return check.failed("it did not end within \(deadline.words) of 'stop'") }
        guard trial.hasSucceeded else { return check.failed("\(trial.ending ?? "")") }
        return check.passed()
    }

    private func versions(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try ProgramTrial(collector)
        trial.greet(version: 999)
        let object: JSONObject
        switch trial.next(within: handshake) {
        case .message(let message): object = message
        case .rubbish: return check.failed("to version 999 it says what is no JSON object")
        case .nothing: return check.failed("to version 999 it says nothing for \(handshake.words)")
        case .ended: return check.failed("to version 999 it says nothing: \(trial.ending ?? "it ended")" + complaint(trial))
        }
        guard object["message"]?.string == "descriptor", object["protocol"]?.int64 == 999 else { return check.passed() }
        return check.failed("it claims to speak version 999 of the protocol when it is asked for that")
    }

    // MARK: While it runs

    /// A program that has started, and has had a moment to begin.
    private func started() throws -> ProgramTrial {
        var trial = try ProgramTrial(collector)
        trial.greet(version: 1)
        _ = trial.next(within: handshake)
        trial.start(collector, settings.kind)
        return trial
    }

    /// Lets it run. False when it ended by itself, having nothing more to say.
    private func runsOn(_ trial: inout ProgramTrial) -> Bool {
        !trial.ends(within: settings.observation / 4)
    }

    private func goesOn(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try started()
        guard !trial.ends(within: settings.observation) else { return early(check, trial) }
        trial.stop()
        trial.closeInput()
        _ = trial.ends(within: deadline)
        return check.passed("for \(settings.observation.words)")
    }

    private func strangeInput(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try ProgramTrial(collector)
        trial.say("this is no JSON\n\n{\"message\":\"weather\",\"sun\":true}\n[]\nnull\n")
        trial.greet(version: 1)
        _ = trial.next(within: handshake)
        trial.start(collector, settings.kind)
        guard runsOn(&trial) else { return early(check, trial) }
        trial.say(
            "{\"message\":\"weather\"}\n\n{\"message\":7}\n{\"half\":\n" + String(repeating: "x", count: 20_000) + "\n\u{0}\u{1}\n{}\n")
        trial.say("{\"message\":\"target\",\"target\":{\"host\":\"server.example\",\"addresses\":[\"192.0.2.1\"]},\"more\":[1,{}]}\n")
        guard runsOn(&trial) else { return early(check, trial) }
        trial.stop()
        trial.closeInput()
        guard trial.ends(within: deadline) else { return check.failed("after lines that it does not know it no longer ends at 'stop'") }
        return check.passed()
    }

    /// It ended while nobody had told it to.
    private func early(_ check: ProgramCheck, _ trial: borrowing ProgramTrial) -> CheckResult {
        if trial.hasSucceeded { return check.notApplicable("it had nothing more to say, and ended by itself") }
        return check.failed("\(trial.ending ?? "it ended")" + complaint(trial))
    }

    private func inputEnd(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try started()
        guard runsOn(&trial) else { return early(check, trial) }
        trial.closeInput()
        guard trial.ends(within: deadline) else { return check.failed("it was still there \(deadline.words) after its input had ended") }
        return check.passed()
    }

    private func stopMessage(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try started()
        guard runsOn(&trial) else { return early(check, trial) }
        let begin = MonotonicInstant.now()
        trial.stop()
        guard trial.ends(within: deadline / 2) else {
            return check.failed("it was still there \((deadline / 2).words) after 'stop': in a test SIGTERM follows then")
        }
        return check.passed(trial.endedAt.map { "after \(($0 - begin).words)" })
    }

    private func terminate(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try started()
        guard runsOn(&trial) else { return early(check, trial) }
        trial.signal(SIGTERM)
        guard trial.ends(within: deadline) else { return check.failed("it was still there \(deadline.words) after SIGTERM") }
        return check.passed()
    }

    private func fullPipe(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try started()
        trial.narrow()
        guard !trial.ends(within: settings.observation, reads: false) else { return early(check, trial) }
        let isFull = trial.waiting > 2048
        trial.stop()
        trial.closeInput()
        // As in a test, where its output is read again once it is to end.
        guard trial.ends(within: deadline) else {
            return check.failed("nobody had read its output, and it was still there \(deadline.words) after 'stop'")
        }
        return isFull ? check.passed() : check.notApplicable("it says too little to fill a pipe in \(settings.observation.words)")
    }

    private func companions(_ check: ProgramCheck) throws -> CheckResult {
        var trial = try started()
        // One that ends by itself leaves nobody behind either.
        if runsOn(&trial) {
            trial.stop()
            trial.closeInput()
            guard trial.ends(within: deadline) else { return check.notApplicable("it did not end by itself") }
        }
        guard trial.leftBehind.isEmpty else {
            return check.failed("when it had ended there were still: \(trial.leftBehind.joined(separator: ", "))")
        }
        return check.passed()
    }
}
