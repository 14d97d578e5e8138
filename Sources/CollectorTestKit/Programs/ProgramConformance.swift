internal import CollectorCore
public import ExternalCollector
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// Runs a program, or a library in its host, through the collector protocol (docs/collector-protocol.md) and then through the contract, like
/// every other collector.
public struct ProgramConformance: Sendable {
    private let collector: ProgramCollector
    public var settings: CollectorConformance.Settings

    public init(_ collector: ProgramCollector, settings: CollectorConformance.Settings = .init()) {
        self.collector = collector
        self.settings = settings
    }

    /// Runs every check: first those of the protocol, and those of the contract if it can be talked with at all.
    ///
    /// - Parameter onEach: called with each result as it is known.
    public func run(onEach: @escaping @Sendable (CheckResult) -> Void = { _ in }) async -> Verdict {
        let (collector, settings) = (collector, settings)
        let checks = try? await OwnThread.value("conformance") {
            .success(ProgramChecks(collector: collector, settings: settings, tell: onEach).run())
        }
        let own = checks ?? [ProgramCheck.descriptor.failed("this machine has no thread left to look at it")]
        guard !own.contains(where: { $0.name == ProgramCheck.descriptor.rawValue && $0.isFailed }) else {
            return Verdict(collector: collector.descriptor.name, checks: own)
        }
        let heard = Heard()
        var watched = collector
        watched.observer = ConversationObserver { heard.take($0) }
        let verdict = await CollectorConformance(watched, settings: settings).run { onEach($0.forPrograms) }
        let more = [heard.messages, heard.complaints]
        for result in more { onEach(result) }
        return Verdict(
            collector: verdict.collector, checks: own + more + verdict.checks.map(\.forPrograms), isComplete: verdict.isComplete)
    }
}

/// What the conversations of the contract's runs were like.
private final class Heard: Sendable {
    private struct State {
        var refused: [(word: String, detail: String)] = []
        var complaints: [UInt8] = []
        var octets = 0
    }

    private let state = Mutex(State())

    func take(_ event: ConversationObserver.Event) {
        state.withLock { state in
            switch event {
            case .refused(let word, let detail): if state.refused.count < 100 { state.refused.append((word, detail)) }
            case .complained(let octets):
                state.octets += octets.count
                if state.complaints.count < 4096 { state.complaints += octets }
            }
        }
    }

    var messages: CheckResult {
        let refused = state.withLock { $0.refused }
        guard let first = refused.first else { return ProgramCheck.messages.passed() }
        return ProgramCheck.messages.failed("\(refused.count) lines were refused; the first (\(first.word)): \(first.detail)")
    }

    var complaints: CheckResult {
        let (text, octets) = state.withLock { ($0.complaints, $0.octets) }
        guard octets > 0 else { return ProgramCheck.complaints.passed() }
        return ProgramCheck.complaints.noted("\(octets) octets, the beginning: \(Complaint.shown(text))")
    }
}
