/// The checks of collectors that are programs of their own, beside those of ``ConformanceCheck``. The raw value is the stable name.
public enum ProgramCheck: String, Sendable, CaseIterable {
    case descriptor
    case onlyAsked = "only_asked"
    case versions
    case goesOn = "goes_on"
    case messages
    case strangeInput = "strange_input"
    case inputEnd = "input_end"
    case stopMessage = "stop_message"
    case terminate
    case fullPipe = "full_pipe"
    case companions
    case complaints

    /// What is checked, in one line.
    public var title: String {
        switch self {
        case .descriptor: "Its first line is its descriptor"
        case .onlyAsked: "Who only asks for the descriptor gets that and nothing else"
        case .versions: "A FieldProbe of another version gets no false answer"
        case .goesOn: "It goes on until it is told to end"
        case .messages: "Every line is a message of the protocol"
        case .strangeInput: "What it does not understand does it no harm"
        case .inputEnd: "It ends when its input ends"
        case .stopMessage: "It ends when it is told to"
        case .terminate: "It ends at SIGTERM"
        case .fullPipe: "It ends although nobody reads what it says"
        case .companions: "It leaves no process behind"
        case .complaints: "It writes nothing to standard error"
        }
    }

    /// What to change in a program that fails the check.
    public var remedy: String {
        switch self {
        case .descriptor: "Write the descriptor as the first line, as soon as the program starts, and flush it."
        case .onlyAsked:
            "Collect, open and ask nothing before the message 'start', and end with exit status 0 at 'stop' or the end of the input."
        case .versions: "Write the version that the program was written for, whatever 'hello' says: FieldProbe decides."
        case .goesOn:
            "Catch what may go wrong in a reading, and say 'unavailable' or 'failed' with a reason; look at the last line that it printed."
        case .messages:
            "Write one JSON object a line, with 'message', and nothing else to standard output; put what you print for yourself on standard error. "
                + "Leave out values that are not numbers: NaN is not JSON."
        case .strangeInput: "Pass over lines that are no JSON and messages that you do not know: a newer FieldProbe may say more."
        case .inputEnd: "End when reading from standard input gives the end of file: FieldProbe is gone then."
        case .stopMessage:
            "Read standard input while you collect: wait for it and for your source together (select, poll), and end at the message 'stop'."
        case .terminate: "Do not ignore SIGTERM, or end in its handler."
        case .fullPipe:
            "Never wait for output without an end: let SIGPIPE end the program, and look for the end of the input where writing does not go on."
        case .companions: "End every process that the program started before it ends itself, and wait for it."
        case .complaints: "Nobody reads standard error beside a test: say what matters with 'unavailable', 'failed' or 'gap'."
        }
    }

    // MARK: Results

    func passed(_ figures: String? = nil) -> CheckResult {
        CheckResult(name: rawValue, title: title, outcome: .passed, figures: figures)
    }

    /// - Parameter isAdvice: the problem says itself what to do.
    func failed(_ problem: String, isAdvice: Bool = false) -> CheckResult {
        CheckResult(name: rawValue, title: title, outcome: .failed, problem: problem, remedy: isAdvice ? nil : remedy)
    }

    func notApplicable(_ why: String) -> CheckResult { CheckResult(name: rawValue, title: title, outcome: .notApplicable(why)) }

    func noted(_ what: String) -> CheckResult { CheckResult(name: rawValue, title: title, outcome: .noted(what), remedy: remedy) }
}
