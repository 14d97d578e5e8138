internal import CollectorCore
internal import Glibc
internal import MeasurementModel

/// What a process's end means for its trace. Pure.
enum Fate {
    /// What ends a program, in this order, each with its share of the stop deadline since the test's end.
    enum Step: CaseIterable {
        case message, terminate, kill, abandon

        var signal: Int32? {
            switch self {
            case .message, .abandon: nil
            case .terminate: SIGTERM
            case .kill: SIGKILL
            }
        }

        var share: Double {
            switch self {
            case .message: 0.5
            case .terminate: 0.75
            case .kill, .abandon: 0.9
            }
        }
    }

    /// Of a program that ended before it was told to. Nil for status 0: it has nothing more to say.
    static func failure(_ ending: CollectorProcess.Ending, _ collector: ProgramCollector, when: String) -> CollectorFailure? {
        switch ending {
        case .exited(0): nil
        case .unknown: unknown
        case .exited: CollectorFailure("exited", "\(text(ending)) \(when)")
        case .signaled(let number): crash(number, ending, collector, when)
        }
    }

    /// Of a program that was told to end. How it takes its leave is its own matter, unless it crashed or had to be killed.
    static func failure(
        _ ending: CollectorProcess.Ending, after steps: Set<Step>, _ collector: ProgramCollector, _ deadline: Duration
    ) -> CollectorFailure? {
        if steps.contains(.abandon) {
            return CollectorFailure(
                "unkillable", "not even SIGKILL ended it within \(deadline.milliseconds) ms: the kernel holds it in a wait for a device",
                state: .stuck)
        }
        switch ending {
        case .exited: return nil
        case .unknown: return unknown
        case .signaled(SIGTERM) where steps.contains(.terminate): return nil
        case .signaled(SIGKILL) where steps.contains(.kill):
            return CollectorFailure(
                "killed", "it did not end when it was told to, nor at SIGTERM, and was killed", state: .stuck)
        case .signaled(let number): return crash(number, ending, collector, "when it was told to end")
        }
    }

    /// Of a program that was ended because it computed too much.
    static func tooBusy(_ limits: CollectorLimits) -> CollectorFailure {
        let share = (limits.processorShare * 100).rounded()
        return CollectorFailure(
            "cpu_limit", "it used more processor time than it may: \(limits.processorBurst) s and \(share) % of the time, and was ended")
    }

    private static var unknown: CollectorFailure {
        CollectorFailure("ending_unknown", "how it ended was taken away by other code of this process, which waits for every child")
    }

    private static func crash(
        _ number: Int32, _ ending: CollectorProcess.Ending, _ collector: ProgramCollector, _ when: String
    ) -> CollectorFailure {
        let limits = collector.settings.limits
        switch number {
        case SIGABRT:
            return CollectorFailure(
                "crashed", "\(text(ending)) \(when); each of its processes may have \(limits.memory >> 20) MiB of memory")
        case SIGKILL:
            return CollectorFailure("crashed", "\(text(ending)) \(when): by somebody, or by the kernel because memory was short")
        default: return CollectorFailure("crashed", "\(text(ending)) \(when)")
        }
    }

    static func text(_ ending: CollectorProcess.Ending) -> String {
        switch ending {
        case .exited(let status): return "it ended with exit status \(status)"
        case .unknown: return "it ended, and nobody knows how"
        case .signaled(let number):
            let names: [Int32: String] = [
                SIGABRT: "SIGABRT", SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
                SIGTERM: "SIGTERM", SIGPIPE: "SIGPIPE", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGTRAP: "SIGTRAP",
                SIGSYS: "SIGSYS", SIGALRM: "SIGALRM", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2",
            ]
            return "it was ended by signal \(number)" + (names[number].map { " (\($0))" } ?? "")
        }
    }
}
