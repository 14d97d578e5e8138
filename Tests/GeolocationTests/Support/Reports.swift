import CLinux
@testable import Geolocation
import MeasurementModel

/// Words for reports, so that a table of cases reads as one.
extension TPV {
    /// A complete 3D report.
    static func full(
        _ latitude: Double = 48, _ longitude: Double = 11, time: String? = "2026-11-30T12:00:00.000Z", device: String? = "/dev/a"
    ) -> TPV {
        var tpv = TPV()
        tpv.device = device
        tpv.mode = 3
        tpv.time = time.flatMap(Timestamp.init(iso8601:))
        (tpv.latitude, tpv.longitude) = (latitude, longitude)
        (tpv.altitudeMSL, tpv.altitudeHAE) = (520, 560)
        (tpv.speed, tpv.track) = (5, 90)
        (tpv.eph, tpv.epv, tpv.eps, tpv.epd) = (10, 20, 2, 4)
        return tpv
    }

    func with(_ change: (inout TPV) -> Void) -> TPV {
        var copy = self
        change(&copy)
        return copy
    }

    /// A receiver without a fix.
    static func lost(time: String? = nil, device: String? = "/dev/a") -> TPV {
        var tpv = TPV()
        (tpv.device, tpv.mode, tpv.time) = (device, 1, time.flatMap(Timestamp.init(iso8601:)))
        return tpv
    }
}

/// Seconds since the machine started, as a moment.
func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64((1000 + seconds) * 1e9)) }

/// The receiver's time so many seconds after noon.
func noon(_ seconds: Double) -> Timestamp { Timestamp(iso8601: "2026-11-30T12:00:00Z")!.adding(milliseconds: Int64(seconds * 1000)) }

/// A selector under a clock that the test moves.
struct SelectorBench {
    var selector: FixSelector
    /// The wall clock at second 0 of the test.
    var wall = noon(0)

    init(device: String? = nil, maximumError95: Double = 100, acceptsSimulated: Bool = false) {
        selector = FixSelector(
            rule: FixRule(maximumError95: maximumError95, acceptsSimulated: acceptsSimulated), device: device)
    }

    func arrival(_ seconds: Double) -> Arrival {
        Arrival(instant: at(seconds), wall: wall.adding(milliseconds: Int64(seconds * 1000)), isClockSynchronised: true)
    }

    /// Hands reports in that are read at one moment, and everything that is ready by then.
    mutating func receive(_ reports: TPV..., at seconds: Double) -> [FixSelector.Outcome] {
        var outcomes = selector.settle(at: at(seconds))
        for report in reports {
            if let refusal = selector.receive(report, at: arrival(seconds)) { outcomes.append(.refused(refusal)) }
        }
        return outcomes + selector.settle(at: at(seconds))
    }

    mutating func settle(at seconds: Double) -> [FixSelector.Outcome] { selector.settle(at: at(seconds)) }

    /// A report each second from one moment to another, and what came of them.
    mutating func stream(from begin: Int, through end: Int, _ report: (Double) -> TPV) -> [FixSelector.Outcome] {
        var outcomes: [FixSelector.Outcome] = []
        for second in begin...end { outcomes += receive(report(Double(second)), at: Double(second)) }
        return outcomes + settle(at: Double(end) + 0.5)
    }
}

extension [FixSelector.Outcome] {
    var taken: [FixSelector.Selection] { compactMap { if case .taken(let selection) = $0 { selection } else { nil } } }
    var refusals: [Refusal] { compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } } }
}
