public import MeasurementModel
internal import Synchronization

/// What the test measures against. A name's addresses become known while the test runs: collectors are woken then.
public final class SessionTarget: Sendable {
    /// What is known of the target at one moment.
    public struct Value: Sendable, Hashable {
        /// As it was given; nil when the test has no target.
        public var host: String?
        /// The addresses that the path is asked for; empty while a name is not resolved.
        public var addresses: [IPAddress]
        /// When they became known.
        public var knownAt: MonotonicInstant?

        /// It is a name whose addresses are not known so far.
        public var isPending: Bool { host != nil && addresses.isEmpty }
    }

    /// Addresses that stand for the internet while a test has no target: root name servers a (root-servers.org). They are only looked
    /// up in the kernel's routes; nothing is ever sent to them.
    public static let internet = [IPAddress("198.41.0.4")!, IPAddress("2001:503:ba3e::2:30")!]

    private struct State {
        var value: Value
        var attentions: [Attention] = []
    }

    private let state: Mutex<State>

    /// No target: the path to the internet is asked for.
    public init() { state = Mutex(State(value: Value(host: nil, addresses: []))) }

    /// A literal address is known from the start; a name is not, until ``resolve(to:at:)``.
    public init(host: String) {
        let literal = IPAddress(host).map { [$0] } ?? []
        state = Mutex(State(value: Value(host: host, addresses: literal)))
    }

    public var value: Value { state.withLock { $0.value } }

    /// Tells the addresses that the host's name has. The first answer stays: a name is resolved once per test.
    public func resolve(to addresses: [IPAddress], at instant: MonotonicInstant) {
        guard !addresses.isEmpty else { return }
        let waiting: [Attention] = state.withLock { state in
            guard state.value.addresses.isEmpty else { return [] }
            state.value.addresses = addresses
            state.value.knownAt = instant
            return state.attentions
        }
        for attention in waiting { attention.signal() }
    }

    func notify(_ attention: Attention) { state.withLock { $0.attentions.append(attention) } }
}
