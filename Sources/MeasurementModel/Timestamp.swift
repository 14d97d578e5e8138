internal import CLinux
internal import Glibc

/// A moment of a wall clock, in whole milliseconds. It labels; nothing is ever measured with it.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The device's clock now.
    public static func now() -> Timestamp { Timestamp(milliseconds: clinux_realtime_ns() / 1_000_000) }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment so many milliseconds later; negative is earlier.
    public func adding(milliseconds more: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds.addingReportingOverflow(more).partialValue)
    }

    /// ISO 8601 in UTC with milliseconds and `Z`.
    public var description: String {
        var seconds = time_t((milliseconds - modulus) / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(Int(parts.tm_mon) + 1, 2))-\(padded(Int(parts.tm_mday), 2))"
        let time = "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))"
        return "\(date)T\(time).\(padded(Int(modulus), 3))Z"
    }

    /// Milliseconds within the second, also before 1970.
    private var modulus: Int64 { ((milliseconds % 1000) + 1000) % 1000 }

    private func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Reads ISO 8601 in UTC (`2026-11-30T13:23:25.123Z`), as gpsd and reports write it. Nil for anything else. A leap second
    /// (second 60) is accepted and counts as the first instant of the next minute.
    public init?(iso8601 text: String) {
        var rest = Substring(text)
        func number(_ width: Int, then separator: Character?) -> Int? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(width)
            if let separator {
                guard rest.first == separator else { return nil }
                rest = rest.dropFirst()
            }
            return Int(digits)
        }
        guard let year = number(4, then: "-"), let month = number(2, then: "-"), let day = number(2, then: "T"),
            let hour = number(2, then: ":"), let minute = number(2, then: ":"), let second = number(2, then: nil),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction = 0
        if rest.first == "." {
            rest = rest.dropFirst()
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { return nil }
            fraction = Int((digits + "000").prefix(3))!
            rest = rest.dropFirst(digits.count)
        }
        guard rest == "Z" else { return nil }
        var parts = tm()
        parts.tm_year = Int32(year - 1900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        let midnight = timegm(&parts)
        // timegm() carries 31 February over into March: such a date is no date.
        guard parts.tm_mday == day else { return nil }
        milliseconds = (Int64(midnight) + Int64(hour * 3600 + minute * 60 + second)) * 1000 + Int64(fraction)
    }
}
