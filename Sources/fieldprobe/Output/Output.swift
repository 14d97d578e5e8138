internal import CLinux
internal import Glibc
internal import MeasurementModel

/// What this program prints.
enum Output {
    /// Writes all of it to standard output.
    ///
    /// - Throws: ``CommandFailure`` when it cannot be written, but for a reader that has left: then there is nothing to say any more.
    static func print(_ text: String) throws {
        let error = write(Array(text.utf8), to: 1)
        guard error == 0 || error == EPIPE else {
            throw CommandFailure(.failure, "standard output cannot be written: \(SystemError.text(error))")
        }
    }

    static func printJSON(_ value: JSONValue) throws { try print(value.text(pretty: true) + "\n") }

    /// One line about what went wrong, on standard error.
    static func complain(_ text: String) {
        _ = write(Array("fieldprobe: \(TerminalText.escaped(text, keepsLines: true))\n".utf8), to: 2)
    }

    /// Everything, or the errno that stopped it.
    static func write(_ octets: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = clinux_poll(&event, 1, -1)
                    continue
                }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}

/// Colours, where somebody sees them.
struct Style: Sendable {
    let hasColour: Bool

    /// On a terminal that can, unless NO_COLOR (no-color.org) says otherwise.
    init(descriptor: Int32) {
        hasColour = isatty(descriptor) != 0 && Self.variable("NO_COLOR") == nil && Self.variable("TERM") != "dumb"
    }

    init(hasColour: Bool) { self.hasColour = hasColour }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value[0] != 0 else { return nil }
        return String(cString: value)
    }

    func bold(_ text: String) -> String { painted(text, "1") }
    func green(_ text: String) -> String { painted(text, "32") }
    func red(_ text: String) -> String { painted(text, "31") }

    private func painted(_ text: String, _ code: String) -> String { hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
