internal import MeasurementModel

/// One line of gpsd's JSON protocol (gpsd_json(5)), decoded strictly: libgps itself takes NaN for zero, fills half a fix from a cut line
/// and stops at an unknown nested value without saying so. This needs nothing of libgps.
///
/// A line counts only as one complete JSON object whose first member is `class`. A member of the wrong type, or a number that is not
/// finite, is as absent; unknown members and classes are passed over; of a repeated member the last one holds.
enum GPSDLine: Sendable, Hashable {
    case tpv(TPV)
    case device(Device)
    case devices([Device])
    case version(release: String?)
    case watch
    case error
    /// Well formed, and nothing that a position needs: SKY, GST, PPS and what future releases bring.
    case other

    /// A receiver that gpsd knows.
    struct Device: Sendable, Hashable {
        /// Its path; nil where gpsd left it out.
        let path: String?
        /// False in the notice that it has gone.
        let isActive: Bool
    }

    /// Nil for what is no line of gpsd's.
    init?(octets: some Sequence<UInt8>) {
        guard let value = try? JSONValue(parsing: octets), let object = value.object, let first = object.members.first,
            first.key == "class", let name = first.value.string
        else { return nil }
        switch name {
        case "TPV": self = .tpv(TPV(object))
        case "DEVICE": self = .device(Device(object))
        case "DEVICES": self = .devices(object["devices"]?.array?.compactMap { $0.object.map(Device.init) } ?? [])
        case "VERSION": self = .version(release: object["release"]?.string)
        case "WATCH": self = .watch
        case "ERROR": self = .error
        default: self = .other
        }
    }
}

extension GPSDLine.Device {
    init(_ object: JSONObject) {
        path = object.deviceName("path")
        // A time as text when it is active; the number 0 in the notice that it has gone.
        isActive = object["activated"]?.double != 0
    }
}
