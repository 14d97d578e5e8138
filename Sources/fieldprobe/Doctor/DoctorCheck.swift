internal import CollectorCore
internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import QualityTests
internal import Synchronization

/// One thing that has to be there for a part of the work.
struct DoctorCheck: Sendable {
    /// A word for programs.
    let name: String
    /// What would be the one that does not answer, at the start of a sentence's rest.
    let title: String
    /// May block: nobody waits for it longer than ``deadline``.
    let look: @Sendable (Configuration) -> Finding

    /// How long ``findings(_:of:)`` waits: longer than a daemon's two answers may take.
    static let deadline: Duration = .seconds(2)

    init(name: String, title: String? = nil, look: @escaping @Sendable (Configuration) -> Finding) {
        self.name = name
        self.title = title ?? "what '\(name)' looks at"
        self.look = look
    }

    /// What every check finds, all at the same time. One that hangs is left behind on its thread: this program ends soon. Blocks.
    static func findings(_ configuration: Configuration, of checks: [DoctorCheck] = all) throws -> [(name: String, finding: Finding)] {
        let answers = try checks.map { check in
            let answer = try Answer()
            try OwnThread.start("doctor") { answer.give(check.look(configuration)) }
            return answer
        }
        let end = MonotonicInstant.now() + deadline
        return zip(checks, answers).map { check, answer in
            let silent = Finding.no("\(check.title) does not answer", "see whether it hangs, and start it again")
            return (name: check.name, finding: answer.wait(until: end) ?? silent)
        }
    }

    /// What one check gives, if it does.
    private final class Answer: Sendable {
        private let finding = Mutex<Finding?>(nil)
        private let given = clinux_eventfd()

        init() throws { if given < 0 { throw SystemError(errno: -given, call: "eventfd") } }

        deinit { if given >= 0 { close(given) } }

        func give(_ finding: Finding) {
            self.finding.withLock { $0 = finding }
            var one: UInt64 = 1
            _ = write(given, &one, 8)
        }

        func wait(until end: MonotonicInstant) -> Finding? {
            var event = pollfd(fd: given, events: Int16(POLLIN), revents: 0)
            _ = clinux_poll(&event, 1, max(0, (end - .now()).nanoseconds))
            return finding.withLock { $0 }
        }
    }

    struct Finding: Sendable {
        let isOK: Bool
        /// What was found.
        let what: String
        /// What to do; empty when nothing is to be done.
        let advice: String

        static func ok(_ what: String) -> Finding { Finding(isOK: true, what: what, advice: "") }
        static func no(_ what: String, _ advice: String) -> Finding { Finding(isOK: false, what: what, advice: advice) }
    }

    /// Every check, in the order in which they are shown.
    static let all: [DoctorCheck] = [
        .configuration, .stateFolder, .registration, .clock, .preciseLocation, .wifiIdentity, .gpsd, .wifi, .systemBus,
        .busName("networkmanager", "org.freedesktop.NetworkManager", "NetworkManager", "it tells which connections are metered"),
        .busName("modemmanager", "org.freedesktop.ModemManager1", "ModemManager", "it tells about cellular modems"),
    ]
}
