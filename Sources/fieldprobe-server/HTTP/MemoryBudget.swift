internal import Synchronization

/// How much the bodies of all requests together may hold: many clients at once must not exhaust the machine.
final class MemoryBudget: Sendable {
    private let left: Mutex<Int>

    init(octets: Int) { left = Mutex(octets) }

    func take(_ octets: Int) -> Bool {
        left.withLock { left in
            guard left >= octets else { return false }
            left -= octets
            return true
        }
    }

    func give(_ octets: Int) { left.withLock { $0 += octets } }
}
