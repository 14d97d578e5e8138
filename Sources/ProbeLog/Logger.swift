internal import CLinux
@preconcurrency internal import Glibc

/// Constant message and metadata, handed in and never made inside a library. No secret, token, exact position or network name may
/// ever be given to it.
public struct Logger: Sendable {
    /// How much a message matters, from the least to the most.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        public var name: String {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .warning: "warning"
            case .error: "error"
            }
        }
    }

    /// Where messages go. It is called on the thread that logs, and must not block for long.
    public typealias Sink = @Sendable (_ level: Level, _ category: String, _ message: String, _ metadata: [(String, String)]) -> Void

    public let category: String
    /// Messages below it are dropped before the sink.
    public let minimum: Level
    private let sink: Sink

    public init(category: String, minimum: Level = .info, sink: @escaping Sink) {
        self.category = category
        self.minimum = minimum
        self.sink = sink
    }

    /// Says nothing.
    public static let silent = Logger(category: "", minimum: .error) { _, _, _, _ in }

    /// One line on standard error for each message.
    public static func standardError(category: String, minimum: Level) -> Logger {
        Logger(category: category, minimum: minimum) { level, category, message, metadata in
            var line = "\(level.name) \(category): \(message)"
            for (key, value) in metadata { line += " \(key)=\(Self.quoted(value))" }
            let octets = Array((line + "\n").utf8)
            octets.withUnsafeBytes { _ = write(2, $0.baseAddress, $0.count) }
        }
    }

    /// The same sink under another category.
    public func named(_ category: String) -> Logger { Logger(category: category, minimum: minimum, sink: sink) }

    /// For whoever looks for a fault in this package.
    public func debug(_ message: StaticString, _ metadata: (String, String)...) { log(.debug, message, metadata) }
    /// What happens now and then, and is as it should be.
    public func info(_ message: StaticString, _ metadata: (String, String)...) { log(.info, message, metadata) }
    /// What is not as it should be, and was coped with.
    public func warning(_ message: StaticString, _ metadata: (String, String)...) { log(.warning, message, metadata) }
    /// What somebody has to do something about.
    public func error(_ message: StaticString, _ metadata: (String, String)...) { log(.error, message, metadata) }

    private func log(_ level: Level, _ message: StaticString, _ metadata: [(String, String)]) {
        guard level >= minimum else { return }
        sink(level, category, message.description, metadata)
    }

    private static func quoted(_ value: String) -> String {
        let plain = !value.isEmpty && value.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x22 && $0.value != 0x7F }
        return plain ? value : value.debugDescription
    }
}
