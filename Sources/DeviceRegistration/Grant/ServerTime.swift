internal import MeasurementModel

/// What the server's clock showed at a moment of this boot.
///
/// The offset to the server is made anew from it whenever it is asked for: the boot-time and the wall clock run at one rate and differ by the
/// wall clock's steps only, so that a step after the authentication does not falsify it.
struct ServerTime: Sendable, Hashable {
    let bootID: String
    let instant: MonotonicInstant
    /// The server's clock at ``instant``.
    let server: Timestamp
    /// Half the round trip: the server may have looked at its clock at any moment of it.
    let uncertainty: Duration

    /// An answer that took longer tells nothing worth knowing.
    private static let greatestUncertainty = Duration.seconds(2)

    init(bootID: String, instant: MonotonicInstant, server: Timestamp, uncertainty: Duration) {
        self.bootID = bootID
        self.instant = instant
        self.server = server
        self.uncertainty = uncertainty
    }

    /// From one exchange: the server looked at its clock between the request and the answer.
    ///
    /// - Returns: nil when that took too long.
    init?(server: Timestamp, requestedAt: MonotonicInstant, answeredAt: MonotonicInstant, bootID: String) {
        let half = (answeredAt - requestedAt) / 2
        guard half >= .zero, half <= Self.greatestUncertainty else { return nil }
        // All three clocks that go into an offset are read in whole milliseconds, rounded down.
        self.init(
            bootID: bootID, instant: requestedAt + half, server: server,
            uncertainty: .milliseconds((half + .nanoseconds(999_999)).milliseconds + 2))
    }

    /// The server's clock minus this device's.
    ///
    /// - Returns: nil after a restart of the machine, because nobody knows how long it was off.
    func offset(bootID now: String, instant: MonotonicInstant, wall: Timestamp) -> Duration? {
        guard bootID == now, instant >= self.instant else { return nil }
        let serverNow = server.adding(milliseconds: (instant - self.instant).milliseconds)
        return .milliseconds(serverNow.milliseconds.subtractingReportingOverflow(wall.milliseconds).partialValue)
    }

    var json: JSONValue {
        .object([
            "boot_id": .string(bootID), "boottime_ns": .integer(instant.nanoseconds), "server_ms": .integer(server.milliseconds),
            "uncertainty_ms": .integer(uncertainty.milliseconds),
        ])
    }

    init?(json: JSONValue) {
        guard let bootID = json["boot_id"]?.string, let nanoseconds = json["boottime_ns"]?.int64,
            let milliseconds = json["server_ms"]?.int64, let uncertainty = json["uncertainty_ms"]?.int64
        else { return nil }
        self.init(
            bootID: bootID, instant: MonotonicInstant(nanoseconds: nanoseconds), server: Timestamp(milliseconds: milliseconds),
            uncertainty: .milliseconds(uncertainty))
    }
}
