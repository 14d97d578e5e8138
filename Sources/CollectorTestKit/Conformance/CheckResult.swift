public import MeasurementModel

/// What one check of the conformance kit found.
public struct CheckResult: Sendable, Hashable {
    /// What a check has found.
    public enum Outcome: Sendable, Hashable {
        case passed
        case failed
        /// The check says nothing about this collector, and why.
        case notApplicable(String)
        /// Allowed, and worth knowing: what was seen.
        case noted(String)

        /// A word for programs to compare.
        public var word: String {
            switch self {
            case .passed: "passed"
            case .failed: "failed"
            case .notApplicable: "not_applicable"
            case .noted: "noted"
            }
        }
    }

    /// A stable word for programs to compare, such as `start_stop`.
    public let name: String
    /// What was checked, in one line for people.
    public let title: String
    public let outcome: Outcome
    /// Figures of a check that passed, such as the slowest stop. No value of a field is ever part of any of these texts.
    public let figures: String?
    /// What happened, with figures. Only of a check that failed.
    public let problem: String?
    /// What to change in the collector. Only of a check that failed, or noted something.
    public let remedy: String?

    /// For checks beside the kit's own, such as those of one kind of collector only.
    public init(name: String, title: String, outcome: Outcome, figures: String? = nil, problem: String? = nil, remedy: String? = nil) {
        self.name = name
        self.title = title
        self.outcome = outcome
        self.figures = figures
        self.problem = problem
        self.remedy = remedy
    }

    public var isFailed: Bool { outcome == .failed }

    /// One line for a terminal; more where something has to be done.
    public var text: String {
        let column = name + String(repeating: " ", count: max(1, 20 - name.count))
        switch outcome {
        case .passed: return "pass  \(column)\(title)" + (figures.map { " (\($0))" } ?? "")
        case .notApplicable(let why): return "n/a   \(column)\(title): \(why)"
        case .noted(let what): return "note  \(column)\(title)" + Self.indented([("seen", what), ("advice", remedy)])
        case .failed: return "FAIL  \(column)\(title)" + Self.indented([("problem", problem), ("remedy", remedy)])
        }
    }

    private static func indented(_ lines: [(String, String?)]) -> String {
        lines.compactMap { name, text in text.map { "\n      \(name): \($0)" } }.joined()
    }

    public var json: JSONValue {
        var object: JSONObject = ["name": .string(name), "title": .string(title), "outcome": .string(outcome.word)]
        switch outcome {
        case .notApplicable(let why): object["reason"] = .string(why)
        case .noted(let what): object["seen"] = .string(what)
        case .passed, .failed: break
        }
        object["figures"] = figures.map(JSONValue.string)
        object["problem"] = problem.map(JSONValue.string)
        object["remedy"] = remedy.map(JSONValue.string)
        return .object(object)
    }
}
