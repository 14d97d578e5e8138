internal import CollectorCore
internal import MeasurementModel

/// From a fix to the values of the trace.
enum FixFields {
    /// 68 % of a radius from 95 %: the ratio of the two quantiles of the Rayleigh distribution, sqrt(ln 0.32 / ln 0.05).
    static let radius68 = 0.6167
    /// 68 % of one dimension from 95 %: 1 / 1.96 of the normal distribution.
    static let line68 = 0.5102
    /// Ages outside it say that the two clocks differ and not how old the fix is.
    static let credibleAge: ClosedRange<Int64> = 0...10_000

    static func values(_ selection: FixSelector.Selection) -> [String: FieldValue] {
        let fix = selection.fix
        let tpv = fix.tpv
        var values: [String: FieldValue] = [
            "latitude": .number(fix.latitude), "longitude": .number(fix.longitude),
            "horizontal_accuracy_95": .number(fix.error95), "horizontal_accuracy": .number(millimetres(fix.error95 * radius68)),
        ]
        if let mode = tpv.mode { values["fix_mode"] = .integer(mode) }
        values["fix_status"] = tpv.status.flatMap(FixStatus.word).map(FieldValue.text)
        values["device"] = tpv.device.map(FieldValue.text)
        // gpsd reports an altitude with a two-dimensional fix now and then: it is an old or assumed one.
        if fix.isThreeDimensional {
            values["altitude"] = tpv.altitudeMSL.map(FieldValue.number)
            values["ellipsoidal_altitude"] = tpv.altitudeHAE.map(FieldValue.number)
            if tpv.altitudeMSL ?? tpv.altitudeHAE != nil { values["vertical_accuracy"] = accuracy(tpv.epv) }
        }
        if let speed = tpv.speed, speed >= 0 {
            values["speed"] = .number(speed)
            values["speed_accuracy"] = accuracy(tpv.eps)
        }
        if let course = tpv.track, (0...360).contains(course) {
            values["course"] = .number(course == 360 ? 0 : course)
            values["course_accuracy"] = accuracy(tpv.epd)
        }
        if let time = tpv.time, let isTrusted = selection.isTimeTrusted {
            values["gps_time"] = .text(time.description)
            values["gps_time_trusted"] = .bool(isTrusted)
            values["age_ms"] = age(of: time, selection).map { FieldValue.integer($0) }
        }
        return values
    }

    /// Between the fix's moment and its arrival, where that is known: only if the kernel keeps this machine's clock synchronised, the
    /// receiver's date is believable, and the receiver can know UTC. The wait for further reports about the same moment is not in it,
    /// because the snapshot bears the time of the arrival.
    private static func age(of time: Timestamp, _ selection: FixSelector.Selection) -> Int64? {
        guard selection.arrival.isClockSynchronised, selection.isTimeTrusted == true, selection.isUTCVerified else { return nil }
        let age = selection.arrival.wall.milliseconds - time.milliseconds
        return credibleAge.contains(age) ? age : nil
    }

    /// An error of 0 is what some drivers send for "unknown".
    private static func accuracy(_ error95: Double?) -> FieldValue? {
        error95.flatMap { $0 > 0 ? .number(millimetres($0 * line68)) : nil }
    }

    /// A model's value: more digits would only pretend.
    private static func millimetres(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
