extension CheckResult {
    /// The same with a remedy in the words of the protocol, for a collector that is a program or a library.
    var forPrograms: CheckResult {
        guard remedy != nil, let check = ConformanceCheck(rawValue: name), let other = check.remedyForPrograms else { return self }
        return CheckResult(name: name, title: title, outcome: outcome, figures: figures, problem: problem, remedy: other)
    }
}

extension ConformanceCheck {
    /// Nil where what is said to Swift's authors is as good.
    fileprivate var remedyForPrograms: String? {
        switch self {
        case .privacy: "Declare the field with `\"permission\":\"precise_location\"`, or with the class that it really has."
        case .records:
            "Say a first 'record' as soon as the test has started, and flush it: what is printed into a pipe waits in a buffer otherwise. Where there is nothing to see, say 'unavailable' with a reason; 'failed', or "
                + "an exit status other than 0, is for what is really an error."
        case .timeStamps:
            "Give times of CLOCK_BOOTTIME in nanoseconds, of this test, or none: a record without one is stamped when it arrives."
        case .silence: "Say a standing state again within the time of 'maximum_silence_ms', or promise less."
        case .stopAtOnce: "After each record look whether 'stop' has come, or the input has ended, before you say the next one."
        case .notTaken: "Say every reading once, and never again because you think that it was not taken."
        case .permissions:
            "Look at 'permissions' of the start message before the values are read at all, and go on without them. Where nothing is left then, "
                + "name the permission in 'requires'."
        case .twoTests: "Use no fixed port, path or name: two tests at the same time have two processes of the program."
        case .target: "At the message 'target' take the new addresses, or pass over it, and go on."
        case .clockStep: "Measure times with CLOCK_BOOTTIME or CLOCK_MONOTONIC; the wall clock jumps."
        case .startStop: "Wait for standard input and for your source together, and end at 'stop' at once."
        case .children: "End every process that the program started before it ends itself, and wait for it."
        case .files: "Remove what was made in the folders for temporary files before the program ends, or make no files."
        case .sameDeclaration: "Say the same descriptor each time, at once: find out nothing in it, and count nothing in it."
        case .declaration, .about, .values, .descriptors, .threads, .memory, .lateCalls: nil
        }
    }
}
