internal import Glibc
public import MeasurementModel

/// The header `Retry-After` (RFC 9110, section 10.2.3) as a time to wait.
public enum RetryAfter {
    /// A server's word counts within these bounds: a slip of its administrator's must not silence a device for a year.
    public static let bounds: ClosedRange<Duration> = .seconds(1)...(.seconds(3600))

    /// - Parameters:
    ///   - text: seconds or a date.
    ///   - date: the answer's `Date`: a difference between two of the server's times needs no clock of ours.
    ///   - now: the wall clock, where the answer has no `Date`.
    /// - Returns: nil where there is no such header, or nothing in it that can be read.
    public static func duration(_ text: String?, date: String?, now: Timestamp) -> Duration? {
        guard let text else { return nil }
        let word = text.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        if !word.isEmpty, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return clipped(.seconds(Int64(word) ?? .max / 1_000_000_000))
        }
        guard let then = httpDate(word) else { return nil }
        let base = date.flatMap(httpDate) ?? now
        return clipped(.milliseconds(then.milliseconds - base.milliseconds))
    }

    private static func clipped(_ duration: Duration) -> Duration { min(max(duration, bounds.lowerBound), bounds.upperBound) }

    /// The preferred form of RFC 9110, `Sun, 06 Nov 1994 08:49:37 GMT`, which is the only one that is still made.
    static func httpDate(_ text: String) -> Timestamp? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let number = String(month + 1)
        let date = "\(words[3])-\(number.count == 1 ? "0" : "")\(number)-\(words[1])T\(words[4])Z"
        return Timestamp(iso8601: date)
    }
}
