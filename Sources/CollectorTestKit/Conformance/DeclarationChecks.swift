internal import CollectorCore
internal import MeasurementModel

/// What can be said of a declaration by reading it.
enum DeclarationChecks {
    static func run(_ descriptor: CollectorDescriptor) -> [CheckResult] {
        if let problem = descriptor.problem { return [ConformanceCheck.declaration.failed(problem)] }
        let fields = descriptor.allFields
        return [
            ConformanceCheck.declaration.passed("\(counted(fields.count, "field")), trace '\(descriptor.trace)'"),
            privacy(fields), about(fields),
        ]
    }

    /// A member is withheld with the field that it is part of, so the permission may be asked for there.
    private static func privacy(_ fields: [PathField]) -> CheckResult {
        let precise = fields.filter { $0.field.privacy == .preciseLocation }
        let open = precise.filter { path, field, above in !(above + [field]).contains { $0.permission == .preciseLocation } }
        guard !open.isEmpty else { return ConformanceCheck.privacy.passed(precise.isEmpty ? nil : counted(precise.count, "such field")) }
        return ConformanceCheck.privacy.failed(
            "\(names(open)) would be recorded without anybody having allowed precise location")
    }

    private static func about(_ fields: [PathField]) -> CheckResult {
        let mute = fields.filter { $0.field.about.allSatisfy(\.isWhitespace) }
        guard !mute.isEmpty else { return ConformanceCheck.about.passed() }
        return ConformanceCheck.about.failed("\(names(mute)) \(mute.count == 1 ? "has" : "have") no text")
    }

    private static func names(_ fields: [PathField]) -> String {
        let shown = fields.prefix(5).map { "'\($0.path)'" }.joined(separator: ", ")
        return fields.count > 5 ? "\(shown) and \(fields.count - 5) more" : shown
    }

    // MARK: Over all runs

    static func sameDeclaration(_ notes: Ledger.Notes, deadline: Duration) -> CheckResult {
        let check = ConformanceCheck.sameDeclaration
        if let first = notes.firstLines, let other = notes.otherLines {
            let difference = zip(first, other).first { $0 != $1 }.map { "'\($0)' became '\($1)'" }
            return check.failed("asked \(notes.askings) times: \(difference ?? "\(first.count) lines became \(other.count)")")
        }
        guard notes.slowestAsking < deadline else {
            return check.failed("one of \(notes.askings) askings took \(notes.slowestAsking.words)")
        }
        return check.passed("asked \(notes.askings) times")
    }

    static func lateCalls(_ notes: Ledger.Notes, lingered: Duration) -> CheckResult {
        guard notes.lateCalls > 0, let first = notes.firstLateCall else {
            return ConformanceCheck.lateCalls.passed("listened for \(lingered.words)")
        }
        return ConformanceCheck.lateCalls.failed(
            "the trace was called \(counted(notes.lateCalls, "time")) after the collector had returned, first '\(first.what)' "
                + "\(first.after.words) after it")
    }
}
