internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// Every open connection and how long it may go on as it does: the HTTP library ends only those that say nothing at all, not those that say
/// one octet at a time.
final class ConnectionTable: Sendable {
    private struct Entry {
        let descriptor: Int32
        var deadline: MonotonicInstant?
    }

    private let entries = Mutex<[UInt: Entry]>([:])
    private let patience: Duration

    init(patience: Duration) { self.patience = patience }

    var count: Int { entries.withLock { $0.count } }

    /// A head has to be complete in time, counted from the connection's start or the previous answer.
    func opened(_ id: UInt, descriptor: Int32, now: MonotonicInstant = .now()) {
        entries.withLock { $0[id] = Entry(descriptor: descriptor, deadline: now + patience) }
    }

    func closed(_ id: UInt) { entries.withLock { _ = $0.removeValue(forKey: id) } }

    /// Octets come or go: each thousand of them gives a second more, which the slowest usable link does.
    func expect(_ id: UInt, octets: Int, now: MonotonicInstant = .now()) {
        entries.withLock { $0[id]?.deadline = now + patience + .milliseconds(octets) }
    }

    /// The server itself works.
    func suspend(_ id: UInt) { entries.withLock { $0[id]?.deadline = nil } }

    /// Shuts down what is beyond its time. The library notices, and closes the descriptor only after it has called `closed`, which waits for
    /// the lock: so a descriptor found here is still this connection's.
    func endOverdue(now: MonotonicInstant = .now()) -> Int {
        entries.withLock { entries in
            var count = 0
            for (id, entry) in entries {
                guard let deadline = entry.deadline, deadline < now else { continue }
                shutdown(entry.descriptor, Int32(SHUT_RDWR))
                entries[id]?.deadline = nil
                count += 1
            }
            return count
        }
    }
}
