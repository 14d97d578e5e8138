/// The checks of the conformance kit, in their order. The raw value is the stable name.
public enum ConformanceCheck: String, Sendable, CaseIterable {
    case declaration
    case privacy
    case about
    case records
    case values
    case timeStamps = "time_stamps"
    case silence
    case stopAtOnce = "stop_at_once"
    case notTaken = "not_taken"
    case permissions
    case twoTests = "two_tests"
    case target
    case clockStep = "clock_step"
    case startStop = "start_stop"
    case descriptors
    case threads
    case children
    case files
    case memory
    case sameDeclaration = "same_declaration"
    case lateCalls = "late_calls"

    /// What is checked, in one line.
    public var title: String {
        switch self {
        case .declaration: "The declaration is valid"
        case .privacy: "Every field of precise location needs the permission for it"
        case .about: "Every field says what it means"
        case .records: "It records, or says why not"
        case .values: "Every value is declared, of its type, and a value"
        case .timeStamps: "Every moment lies between the test's start and now"
        case .silence: "It is never silent for longer than it promises"
        case .stopAtOnce: "A test that is over at once has one reading at most"
        case .notTaken: "It stops although nothing that it says is taken"
        case .permissions: "Without permissions it goes without"
        case .twoTests: "Two tests at the same time do not meet"
        case .target: "A target that becomes known disturbs nothing"
        case .clockStep: "The wall clock may step back and forth"
        case .startStop: "It starts and stops again and again, in time"
        case .descriptors: "No descriptor stays behind"
        case .threads: "No thread stays behind"
        case .children: "No child process stays behind"
        case .files: "No temporary file stays behind"
        case .memory: "Memory does not grow from run to run"
        case .sameDeclaration: "The declaration comes at once, and is always the same"
        case .lateCalls: "After its return nothing is said"
        }
    }

    /// What to change in a collector that fails the check.
    public var remedy: String {
        switch self {
        case .declaration: "Correct the descriptor: the host starts no collector with one that it cannot use."
        case .privacy: "Declare the field with `permission: .preciseLocation`, or with the class that it really has."
        case .about: "Give each field, and each member of a field of records, a line of `about`: the privacy manifest prints it."
        case .records:
            "Hand over a first set of values as soon as the test has started. Where there is nothing to see, say so with "
                + "`unavailable(_:detail:)` and a reason; throw only what is really an error."
        case .values:
            "Declare the field with the type that its values have, and leave out what is not known: no NaN, no empty text, no "
                + "place holder."
        case .timeStamps:
            "Give instants of `session.clock.now()` from this test, or none. Never work one out from a wall clock or a device's clock, and "
                + "keep nothing from an earlier test."
        case .silence: "Tell a standing state again within the time of `maximumSilence`, or promise less."
        case .stopAtOnce: "Look at `Task.isCancelled` after each reading, and return after the first one when the test is over."
        case .notTaken: "Never wait for `record` to give true: a set that is refused is gone, and the next one is as good."
        case .permissions:
            "Look at `session.permissions` before the values are read at all, and go on without them. Where nothing is left then, name the "
                + "permission in `requires`."
        case .twoTests:
            "Keep everything that belongs to one test inside the call of `collect`: no shared state, no fixed port, path or name."
        case .target: "After `wait` has returned with `hasAttention`, look at `session.target` again and go on."
        case .clockStep: "Measure times with `session.clock.now()`; `session.clock.wall()` only labels."
        case .startStop:
            "Wait in `session.wait`, which the test's end interrupts, or look at `Task.isCancelled` in between. A call that cannot be "
                + "interrupted belongs on a thread that is left behind."
        case .descriptors: "Close every file, socket and pipe before `collect` returns, also on its way out by an error."
        case .threads: "End and join every thread before `collect` returns."
        case .children: "End every child before `collect` returns, and wait for it: one that nobody waited for stays as a zombie."
        case .files: "Remove what was made in the folders for temporary files before `collect` returns, or make no files."
        case .memory: "Release what belongs to one test when `collect` returns: look for caches, cycles of references and C memory."
        case .sameDeclaration: "Make the descriptor once, of constants and settings; find out nothing in it, and count nothing in it."
        case .lateCalls: "Wait for everything that may call the trace, such as callbacks and tasks, before `collect` returns."
        }
    }

    // MARK: Results

    func passed(_ figures: String? = nil) -> CheckResult {
        CheckResult(name: rawValue, title: title, outcome: .passed, figures: figures)
    }

    func failed(_ problem: String, remedy: String? = nil) -> CheckResult {
        CheckResult(name: rawValue, title: title, outcome: .failed, problem: problem, remedy: remedy ?? self.remedy)
    }

    func notApplicable(_ why: String) -> CheckResult { CheckResult(name: rawValue, title: title, outcome: .notApplicable(why)) }

    func noted(_ what: String) -> CheckResult { CheckResult(name: rawValue, title: title, outcome: .noted(what), remedy: remedy) }
}
