internal import CLinux
internal import Glibc
internal import Synchronization

/// What has happened to the reports of one state folder, over all processes and restarts.
public struct QueueCounts: Sendable, Hashable {
    /// Safely on the disk.
    public var enqueued = 0
    /// Accepted by the server.
    public var sent = 0
    /// Tries that failed and will be made again.
    public var retried = 0
    /// Lost, because more came than the limit allows.
    public var dropped = 0
    /// Refused by the server for good, and moved aside.
    public var refused = 0
    /// Moved aside because they were no reports.
    public var quarantined = 0

    public init() {}

    /// By the names that they have outside.
    public static var fields: [(name: String, path: WritableKeyPath<QueueCounts, Int>)] {
        [
            ("enqueued", \.enqueued), ("sent", \.sent), ("retried", \.retried), ("dropped", \.dropped), ("refused", \.refused),
            ("quarantined", \.quarantined),
        ]
    }

    static func + (left: QueueCounts, right: QueueCounts) -> QueueCounts {
        var sum = left
        for field in fields { sum[keyPath: field.path] += right[keyPath: field.path] }
        return sum
    }
}

/// ``QueueCounts`` in a file that several processes add to. It is never longer or shorter, so that a full disk does not matter, and it is
/// never waited for: what cannot be written now is added with the next change.
final class QueueCounters: Sendable {
    private static let width = 20
    private let folder: StateFolder
    private let waiting = Mutex(QueueCounts())

    init(_ folder: StateFolder) { self.folder = folder }

    func add(_ change: (inout QueueCounts) -> Void) {
        waiting.withLock { waiting in
            change(&waiting)
            guard waiting != QueueCounts(), let descriptor = open(O_RDWR | O_CREAT) else { return }
            defer { close(descriptor) }
            // Held for two system calls; whoever holds it longer is stopped, and must not stop us.
            var tries = 0
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                tries += 1
                guard tries < 50 else { return }
                usleep(1000)
            }
            let text = Self.text(Self.read(descriptor) + waiting)
            if text.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == text.count { waiting = QueueCounts() }
        }
    }

    var counts: QueueCounts {
        waiting.withLock { waiting in
            guard let descriptor = open(O_RDONLY) else { return waiting }
            defer { close(descriptor) }
            return Self.read(descriptor) + waiting
        }
    }

    private func open(_ flags: Int32) -> Int32? {
        let descriptor = clinux_open(folder.counters, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
        return descriptor >= 0 ? descriptor : nil
    }

    private static func text(_ counts: QueueCounts) -> [UInt8] {
        var text = ""
        for field in QueueCounts.fields {
            let digits = String(max(0, counts[keyPath: field.path]))
            text += field.name + " " + String(repeating: "0", count: max(0, width - digits.count)) + digits + "\n"
        }
        return Array(text.utf8)
    }

    /// What is no count is zero: the file may have been cut off or written by somebody else.
    private static func read(_ descriptor: Int32) -> QueueCounts {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        var counts = QueueCounts()
        for line in String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let field = QueueCounts.fields.first(where: { $0.name == words[0] }) else { continue }
            counts[keyPath: field.path] = min(Int(words[1]) ?? 0, 1 << 60)
        }
        return counts
    }
}
