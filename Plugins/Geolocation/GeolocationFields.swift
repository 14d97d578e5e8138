internal import CGPSD
internal import CollectorCore
internal import MeasurementModel

/// The fields of the trace, and how each is known.
enum GeolocationFields {
    private static let permission = Permission.preciseLocation

    /// What says where the probe is (position, height) or lets that be worked out from an earlier place (speed, course) is precise
    /// location. The receiver's path may carry a serial number (`/dev/serial/by-id/...`), so it identifies the device. The rest
    /// describes the measurement. All of it needs the permission, because nothing of this trace exists without a position.
    ///
    /// Only the position is a reason for a snapshot: heights, speeds, errors and times differ from report to report while the probe
    /// stands still, so that by them every report would be a change and the distance filter none.
    static func declarations(minimumDistance: Double) -> [FieldDeclaration] {
        let metres = minimumDistance.isNaN ? 0 : max(0, minimumDistance)
        return position(metres) + motion + context
    }

    private static func position(_ metres: Double) -> [FieldDeclaration] {
        [
            .number(
                "latitude", unit: .degrees, privacy: .preciseLocation, permission: permission,
                changes: .moved(metres: metres, longitude: "longitude", distance: distance), about: "WGS 84, north positive"),
            located("longitude", .degrees, "WGS 84, east positive"),
            described("horizontal_accuracy", .metres, "Radius that holds the true position at 68 %"),
            described("horizontal_accuracy_95", .metres, "The same at 95 %, as gpsd gave it"),
            located("altitude", .metres, "Above mean sea level; only in a 3D fix"),
            located("ellipsoidal_altitude", .metres, "Above the WGS 84 ellipsoid; only in a 3D fix"),
            described("vertical_accuracy", .metres, "Of the altitudes, 68 %"),
        ]
    }

    private static let motion = [
        located("speed", .metresPerSecond, "Over ground"), described("speed_accuracy", .metresPerSecond, "Of the speed, 68 %"),
        located("course", .degrees, "From true north, 0 up to 360"), described("course_accuracy", .degrees, "Of the course, 68 %"),
    ]

    private static let context: [FieldDeclaration] = [
        .integer(
            "fix_mode", privacy: .connectionContext, permission: permission, changes: .never,
            about: "2 for a two-dimensional fix, 3 for a three-dimensional one"),
        .text(
            "fix_status", privacy: .connectionContext, permission: permission, changes: .never,
            about: "How the fix was made, such as dgps or rtk_fixed; left out for a plain one"),
        .text(
            "device", privacy: .deviceIdentifier, permission: permission, changes: .never, about: "The receiver's path in gpsd"),
        .text(
            "gps_time", privacy: .connectionContext, permission: permission, changes: .never,
            about: "The receiver's time, UTC; data only, nothing is ever set or ordered by it"),
        .bool(
            "gps_time_trusted", privacy: .connectionContext, permission: permission, changes: .never,
            about: "False when the receiver's date cannot be true, as after a rollover of the GPS week"),
        .integer(
            "age_ms", unit: .milliseconds, privacy: .connectionContext, permission: permission, changes: .never,
            about: "From the fix's moment to its arrival, where both clocks can be believed"),
    ]

    private static func located(_ name: String, _ unit: FieldUnit, _ about: String) -> FieldDeclaration {
        .number(name, unit: unit, privacy: .preciseLocation, permission: permission, changes: .never, about: about)
    }

    private static func described(_ name: String, _ unit: FieldUnit, _ about: String) -> FieldDeclaration {
        .number(name, unit: unit, privacy: .connectionContext, permission: permission, changes: .never, about: about)
    }

    /// On the WGS 84 ellipsoid by libgps, which has no answer for points on opposite sides of the earth: they are far enough apart.
    static let distance: ChangeRule.Distance = { from, to in
        let metres = earth_distance(from.0, from.1, to.0, to.1)
        return metres.isNaN ? .infinity : metres
    }

    /// How the fields are known, for the honesty record.
    static let provenance = [
        ("latitude, longitude", "gpsd TPV of mode 2 or 3, at the receiver's full precision"),
        ("horizontal_accuracy_95", "gpsd eph, or hypot(epx, epy); for most receivers a model by HDOP"),
        ("horizontal_accuracy", "0.617 times the 95 % radius (Rayleigh)"),
        ("vertical_accuracy, speed_accuracy, course_accuracy", "0.510 times gpsd's epv, eps, epd (normal distribution)"),
        ("gps_time", "the receiver, by gpsd; trusted within a day of this machine's clock and without a step back"),
        (
            "age_ms",
            "this machine's clock at arrival minus gps_time; left out unless this clock is synchronised, gps_time is trusted and UTC is known"
        ),
    ]
}
