internal import ExternalCollector
internal import MeasurementModel
internal import Synchronization

/// Tells the author of a collector on standard error what goes wrong between it and this program, as it happens.
final class AuthorsView: Sendable {
    private struct State {
        var refused = 0
        var complaints = 0
    }

    /// Of each kind: a runaway must not fill the terminal.
    private static let maximum = 20
    private let name: String
    private let state = Mutex(State())

    /// - Parameter name: already safe for a terminal.
    init(name: String) { self.name = name }

    var observer: ConversationObserver {
        ConversationObserver { [self] event in
            switch event {
            case .refused(let word, let detail):
                let count = state.withLock { state in
                    state.refused += 1
                    return state.refused
                }
                tell(count, "a line is refused (\(word)): \(detail)")
            case .complained(let octets):
                for line in String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline) {
                    let count = state.withLock { state in
                        state.complaints += 1
                        return state.complaints
                    }
                    tell(count, "says on standard error: \(line)")
                }
            }
        }
    }

    private func tell(_ count: Int, _ text: String) {
        guard count <= Self.maximum else { return }
        Output.complain("\(name): \(TerminalText.escaped(text, limit: 500))")
        if count == Self.maximum { Output.complain("\(name): more of this kind is not shown") }
    }
}
