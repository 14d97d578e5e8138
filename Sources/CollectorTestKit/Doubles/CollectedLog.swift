public import ProbeLog
internal import Synchronization

/// Keeps every log line, so that a test can look for what must, or must not, be in it.
public final class CollectedLog: Sendable {
    /// One message as it was given to the sink.
    public struct Line: Sendable {
        public let level: Logger.Level
        public let category: String
        public let message: String
        public let metadata: [(String, String)]

        /// All of it in one line of text, to search for a planted secret.
        public var text: String {
            "\(level.name) \(category): \(message)" + metadata.map { " \($0.0)=\($0.1)" }.joined()
        }
    }

    private let kept = Mutex<[Line]>([])

    public init() {}

    public var lines: [Line] { kept.withLock { $0 } }

    /// A logger that writes here, from debug level up.
    public func logger(category: String = "test") -> Logger {
        Logger(category: category, minimum: .debug) { [self] level, category, message, metadata in
            kept.withLock { $0.append(Line(level: level, category: category, message: message, metadata: metadata)) }
        }
    }
}
