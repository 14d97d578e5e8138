internal import MeasurementModel

/// Follows an exchange through its phases, because libcurl limits only their sum.
struct PhaseWatch {
    private(set) var phase = HTTPPhase.nameLookup
    /// When the phase began, or when something last came or went in it.
    private(set) var since = MonotonicInstant.now()
    private var octets: Int64 = 0

    mutating func look(at exchange: Exchange, now: MonotonicInstant) {
        let current = exchange.phase
        let moved = exchange.octetsMoved
        if current != phase || moved != octets { since = now }
        phase = current
        octets = moved
    }
}
