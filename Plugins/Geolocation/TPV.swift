internal import MeasurementModel

/// One time-position-velocity report of gpsd (gpsd_json(5), class TPV), as it came. Everything is optional: what a report does not say
/// is nil, and nothing is carried over from an earlier one.
struct TPV: Sendable, Hashable {
    /// The receiver's path in gpsd.
    var device: String?
    /// 0 unknown, 1 no fix, 2 two-dimensional, 3 three-dimensional. The only thing that says whether there is a fix.
    var mode: Int?
    /// How the fix was made (0 to 9, see ``FixStatus``). gpsd sends nothing for a plain fix.
    var status: Int?
    /// The receiver's time in UTC, as far as the receiver knows UTC.
    var time: Timestamp?
    /// GPS minus UTC in seconds; present once the receiver has learnt it.
    var leapSeconds: Int?
    /// Degrees on WGS 84, north and east positive.
    var latitude: Double?
    var longitude: Double?
    /// Metres above mean sea level. gpsd's older `alt` is not read: its meaning changed between releases.
    var altitudeMSL: Double?
    /// Metres above the WGS 84 ellipsoid.
    var altitudeHAE: Double?
    /// Metres per second over ground.
    var speed: Double?
    /// Degrees from true north.
    var track: Double?
    /// Estimated errors, by gpsd's intention at 95 %: horizontal, east, north and vertical in metres, speed in m/s, track in degrees.
    var eph: Double?
    var epx: Double?
    var epy: Double?
    var epv: Double?
    var eps: Double?
    var epd: Double?
}

extension TPV {
    init(_ object: JSONObject) {
        device = object.deviceName("device")
        mode = object["mode"]?.int64.flatMap { (0...3).contains($0) ? Int($0) : nil }
        status = object["status"]?.int64.flatMap(Int.init(exactly:))
        time = object["time"]?.string.flatMap(Timestamp.init(iso8601:))
        leapSeconds = object["leapseconds"]?.int64.flatMap(Int.init(exactly:))
        latitude = object["lat"]?.double
        longitude = object["lon"]?.double
        altitudeMSL = object["altMSL"]?.double
        altitudeHAE = object["altHAE"]?.double
        speed = object["speed"]?.double
        track = object["track"]?.double
        eph = object["eph"]?.double
        epx = object["epx"]?.double
        epy = object["epy"]?.double
        epv = object["epv"]?.double
        eps = object["eps"]?.double
        epd = object["epd"]?.double
    }

    /// How much the report says beyond its position: of several reports about one moment the fullest is kept.
    var fullness: Int {
        let values = [altitudeMSL, altitudeHAE, speed, track, eph, epx, epy, epv, eps, epd]
        return values.count { $0 != nil } + (time == nil ? 0 : 1) + (mode == 3 ? 1 : 0)
    }
}

extension JSONObject {
    /// Longer than any path (PATH_MAX of Linux is 4096) is no device name.
    func deviceName(_ key: String) -> String? {
        self[key]?.string.flatMap { !$0.isEmpty && $0.utf8.count < 4096 ? $0 : nil }
    }
}
