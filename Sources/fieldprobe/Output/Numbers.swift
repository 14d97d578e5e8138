/// Numbers for people.
enum Numbers {
    /// `1 snapshot`, `2 snapshots`.
    static func count(_ number: Int64, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    /// Milliseconds as seconds with three decimals.
    static func seconds(_ milliseconds: Int64) -> String {
        "\(milliseconds < 0 ? "-" : "")\(milliseconds.magnitude / 1000).\(padded(milliseconds.magnitude % 1000, 3))"
    }

    /// A number with a fixed count of decimals.
    ///
    /// - Parameter lexeme: what is shown where a double has no such decimals any more; without it the number as Swift writes it.
    static func fixed(_ value: Double, _ decimals: Int, else lexeme: String? = nil) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        // Up to 2^53 every whole number is a double's own.
        guard value.isFinite, abs(value) * scale < 9_007_199_254_740_992 else { return lexeme ?? "\(value)" }
        let whole = UInt64((abs(value) * scale).rounded())
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard decimals > 0 else { return "\(sign)\(whole)" }
        return "\(sign)\(whole / UInt64(scale)).\(padded(whole % UInt64(scale), decimals))"
    }

    private static func padded(_ value: some BinaryInteger, _ width: Int) -> String {
        let digits = "\(value)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
