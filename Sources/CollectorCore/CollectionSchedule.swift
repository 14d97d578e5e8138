public import MeasurementModel

/// Decides when to ask for the state: at once for the first event, once more when a burst has settled, and at the latest by the poll.
///
/// A single event is a burst too, because the kernel tells some changes a little before it has made them. A value for collectors that are
/// woken by events: it keeps no timer and asks for no time.
public struct CollectionSchedule: Sendable {
    /// A burst has settled when no event came for so long.
    static let settle: Duration = .milliseconds(50)
    /// In a burst without end the state is asked for this often.
    static let maximumHold: Duration = .milliseconds(500)

    private enum State {
        case idle(poll: MonotonicInstant)
        case burst(lastNews: MonotonicInstant, due: MonotonicInstant)
    }

    private let pollInterval: Duration
    private var state: State

    /// The state is to be asked for now.
    public init(pollInterval: Duration, now: MonotonicInstant) {
        self.pollInterval = pollInterval
        state = .burst(lastNews: now, due: now)
    }

    /// When the state is to be asked for, if nothing happens before.
    public var next: MonotonicInstant {
        switch state {
        case .idle(let poll): poll
        case .burst(let lastNews, let due): min(lastNews + Self.settle, due)
        }
    }

    /// Something changed.
    public mutating func news(at now: MonotonicInstant) {
        switch state {
        case .idle: state = .burst(lastNews: now, due: now)
        case .burst(_, let due): state = .burst(lastNews: now, due: due)
        }
    }

    /// The state was asked for.
    public mutating func collected(at now: MonotonicInstant) {
        switch state {
        case .burst(let lastNews, _) where now - lastNews < Self.settle: state = .burst(lastNews: lastNews, due: now + Self.maximumHold)
        case .burst, .idle: state = .idle(poll: now + pollInterval)
        }
    }

    /// Whether the time has come.
    public func isDue(at now: MonotonicInstant) -> Bool { now >= next }
}
