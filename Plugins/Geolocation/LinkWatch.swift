internal import MeasurementModel

/// Watches over one connection by the silence of the other side: neither gpsd nor TCP tells of a dead receiver, a frozen daemon or a
/// host that has gone. A value.
struct LinkWatch: Sendable {
    enum Action: Sendable, Hashable {
        /// Ask for reports again: harmless to a gpsd that sends them, and it makes one look at its receivers again.
        case watchAgain
        case reconnect(reason: String)
    }

    /// Whether gpsd has spoken.
    private(set) var isGreeted = false
    private let connectedAt: MonotonicInstant
    private var lastLine: MonotonicInstant
    private var lastReport: MonotonicInstant
    private var lastWatch: MonotonicInstant
    /// gpsd has said that there is no receiver, so the want of reports says nothing about the connection.
    var expectsReports = true
    private let timing: Timing

    init(connectedAt: MonotonicInstant, timing: Timing) {
        self.connectedAt = connectedAt
        self.timing = timing
        lastLine = connectedAt
        lastReport = connectedAt
        lastWatch = connectedAt
    }

    /// A line that only gpsd can have sent.
    mutating func heard(_ line: GPSDLine, at now: MonotonicInstant) {
        isGreeted = true
        lastLine = now
        if case .tpv = line { lastReport = now }
    }

    private var reconnectsAt: MonotonicInstant {
        isGreeted ? (expectsReports ? lastReport : lastLine) + timing.reconnect : connectedAt + timing.greeting
    }

    private var watchesAt: MonotonicInstant { max(lastReport, lastWatch) + timing.watchAgain }

    var deadline: MonotonicInstant { min(reconnectsAt, watchesAt) }

    mutating func tick(at now: MonotonicInstant) -> Action? {
        if now >= reconnectsAt {
            return .reconnect(reason: isGreeted ? "nothing was heard for \(timing.reconnect.inSeconds) s" : "no gpsd answers there")
        }
        guard now >= watchesAt else { return nil }
        lastWatch = now
        return .watchAgain
    }
}
