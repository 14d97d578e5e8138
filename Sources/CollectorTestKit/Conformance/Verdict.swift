public import MeasurementModel

/// What the conformance kit says of a collector.
public struct Verdict: Sendable, Hashable, CustomStringConvertible {
    /// The collector's own name; its type's, where it never said one.
    public let collector: String
    public private(set) var checks: [CheckResult]
    /// False where the task that ran the kit was cancelled: the rest was not looked at.
    public let isComplete: Bool

    public init(collector: String, checks: [CheckResult], isComplete: Bool = true) {
        self.collector = collector
        self.checks = checks
        self.isComplete = isComplete
    }

    /// Whether the collector keeps the contract, as far as the kit can tell.
    public var isConforming: Bool { isComplete && failed.isEmpty }

    public var failed: [CheckResult] { checks.filter(\.isFailed) }

    /// The result of the check of this name; nil where it had no turn.
    public subscript(check: ConformanceCheck) -> CheckResult? { checks.first { $0.name == check.rawValue } }

    /// The same with checks of somebody else's.
    public func adding(_ more: [CheckResult]) -> Verdict {
        Verdict(collector: collector, checks: checks + more, isComplete: isComplete)
    }

    /// One line that sums up.
    public var summary: String {
        let counts = ["passed", "failed", "noted", "not_applicable"].compactMap { word in
            let count = checks.count { $0.outcome.word == word }
            return count == 0 ? nil : "\(count) \(word == "not_applicable" ? "not applicable" : word)"
        }
        let verdict = isConforming ? "conforms" : isComplete ? "does not conform" : "was not looked at to the end"
        return "\(collector) \(verdict): \(counts.joined(separator: ", "))"
    }

    /// For a terminal: every check, then the summary.
    public var text: String { (checks.map(\.text) + [summary]).joined(separator: "\n") }

    /// The summary and what failed, with problem and remedy: what a test shows.
    public var description: String { ([summary] + failed.map(\.text)).joined(separator: "\n") }

    public var json: JSONValue {
        .object([
            "collector": .string(collector), "conforming": .bool(isConforming), "complete": .bool(isComplete),
            "checks": .array(checks.map(\.json)),
        ])
    }
}
