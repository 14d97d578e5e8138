internal import Glibc

/// Numbers for people.
enum Numbers {
    /// With so many decimals, the same in every language.
    static func decimal(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "?" }
        let scale = pow(10, Double(decimals))
        let scaled = Int64((value * scale).rounded())
        guard decimals > 0 else { return String(scaled) }
        let digits = String(abs(scaled))
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return (scaled < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }

    static func seconds(_ milliseconds: Int) -> String { decimal(Double(milliseconds) / 1000, milliseconds < 10_000 ? 2 : 1) + " s" }

    static func size(_ octets: Int) -> String {
        let units = ["octets", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(octets)
        var unit = 0
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return decimal(value, unit == 0 || value >= 100 ? 0 : 1) + " " + units[unit]
    }

    /// A length on the map.
    static func metres(_ metres: Double) -> String { metres >= 1000 ? decimal(metres / 1000, 0) + " km" : decimal(metres, 0) + " m" }
}
