internal import Glibc

/// The distance of two positions on a sphere of the Earth's mean radius (IUGG: 6,371,008.8 m): within 0.6 % of the distance on WGS 84, which
/// is enough to decide whether something has moved.
enum GreatCircle {
    /// - Parameters: latitude and longitude in degrees.
    @Sendable static func metres(_ from: (Double, Double), _ to: (Double, Double)) -> Double {
        let radians = Double.pi / 180
        let (latitude, newLatitude) = (from.0 * radians, to.0 * radians)
        // The haversine formula, which keeps its precision for the short distances that matter here.
        let north = sin((newLatitude - latitude) / 2)
        let east = sin((to.1 - from.1) * radians / 2)
        let chord = north * north + cos(latitude) * cos(newLatitude) * east * east
        return 2 * 6_371_008.8 * asin(min(1, chord.squareRoot()))
    }
}
