internal import CLinux

/// A system call that failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// errno(3), positive.
    public let errno: Int32
    /// What was called, and on what.
    public let call: String

    public init(errno: Int32, call: String) {
        self.errno = errno
        self.call = call
    }

    /// The kernel's text for an errno.
    public static func text(_ errno: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            String(cString: clinux_strerror(errno, buffer.baseAddress!, buffer.count))
        }
    }

    public var description: String { "\(call): \(Self.text(errno))" }
}
