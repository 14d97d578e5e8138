internal import Glibc
internal import MeasurementModel

/// gpsd's `status` by its numbers, which have been the same since gpsd 3.19; the names in gps.h have not.
enum FixStatus {
    static let rtkFixed = 3
    static let deadReckoning = 5
    static let surveyed = 7
    static let simulated = 8

    /// The word in the trace; nil for what is unknown.
    static func word(_ status: Int) -> String? {
        let words = [
            1: "gps", 2: "dgps", rtkFixed: "rtk_fixed", 4: "rtk_float", deadReckoning: "dead_reckoning", 6: "gnss_dead_reckoning",
            surveyed: "surveyed", simulated: "simulated", 9: "gps_py",
        ]
        return words[status]
    }
}

/// Why a report is not recorded. The words appear in the honesty record and are stable.
enum Refusal: String, Error, Sendable, CaseIterable {
    /// Not one complete JSON object that begins with its class.
    case malformed
    /// Mode 0 or 1, or none.
    case noFix = "no_fix"
    case deadReckoning = "dead_reckoning"
    case surveyed
    case simulated
    case noCoordinates = "no_coordinates"
    case outOfRange = "out_of_range"
    /// Exactly 0/0: what broken software says for "unknown".
    case nullIsland = "null_island"
    case accuracyUnknown = "accuracy_unknown"
    case inaccurate
    /// The same receiver's same moment again.
    case repeated
    case timeBackwards = "time_backwards"
    /// Held up on its way for longer than a fix keeps its worth.
    case late
    /// Another receiver is being followed.
    case otherReceiver = "other_receiver"
}

/// A position that may be recorded.
struct Fix: Sendable, Hashable {
    let tpv: TPV
    let latitude: Double
    let longitude: Double
    /// Metres, 95 %: gpsd's eph, or what its east and north errors make.
    let error95: Double
    var isThreeDimensional: Bool { tpv.mode == 3 }
}

/// What a valid, precise fix is (docs/decisions/0003). It looks at one report only.
struct FixRule: Sendable {
    /// Metres at 95 %.
    var maximumError95: Double
    var acceptsSimulated: Bool

    func judge(_ tpv: TPV) -> Result<Fix, Refusal> {
        // Only the mode says that there is a fix: `status` is left out for a plain one.
        guard let mode = tpv.mode, mode >= 2 else { return .failure(.noFix) }
        switch tpv.status {
        case FixStatus.deadReckoning: return .failure(.deadReckoning)
        case FixStatus.surveyed: return .failure(.surveyed)
        case FixStatus.simulated where !acceptsSimulated: return .failure(.simulated)
        default: break
        }
        guard let latitude = tpv.latitude, let longitude = tpv.longitude, latitude.isFinite, longitude.isFinite else {
            return .failure(.noCoordinates)
        }
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return .failure(.outOfRange) }
        guard latitude != 0 || longitude != 0 else { return .failure(.nullIsland) }
        guard let error95 = horizontalError(tpv) else { return .failure(.accuracyUnknown) }
        // An RTK fix is good to centimetres, and gpsd's eph for it is made from the HDOP as for any other: no ground to refuse it.
        guard error95 <= maximumError95 || tpv.status == FixStatus.rtkFixed else { return .failure(.inaccurate) }
        return .success(Fix(tpv: tpv, latitude: latitude, longitude: longitude, error95: error95))
    }

    /// An error of 0 is what some drivers send for "unknown". Twice the distance RMS of two axes holds at least 95 %.
    private func horizontalError(_ tpv: TPV) -> Double? {
        if let eph = tpv.eph { return eph > 0 ? eph : nil }
        guard let east = tpv.epx, let north = tpv.epy, east >= 0, north >= 0 else { return nil }
        let both = hypot(east, north)
        return both > 0 && both.isFinite ? both : nil
    }
}
