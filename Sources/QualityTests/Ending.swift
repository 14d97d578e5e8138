internal import CLinux
internal import CollectorCore
internal import MeasurementModel

/// Everything about a test that has ended, but for what its collectors leave: together they are the report.
struct Ending: Sendable {
    let id: String
    let kind: TestKind
    let admission: TestAdmission
    let permissions: Permissions
    let device: DeviceFacts
    let wallStart: Timestamp
    let wallEnd: Timestamp
    let start: MonotonicInstant
    let end: MonotonicInstant
    let target: SessionTarget
    let measured: Measured

    func report(_ outcome: CollectorRun.Outcome) -> Report {
        Report(
            id: id, kind: kind, client: admission.client, clientVersion: ProductVersion.current, device: device.json,
            startedAt: wallStart, finishedAt: wallEnd, clockOffset: admission.clockOffset, duration: end - start,
            finishedReason: measured.reason, target: targetFacts, result: measured.result, traces: outcome.traces,
            collectors: outcome.records, permissions: permissions.json, time: timeFacts(outcome.clockSteps))
    }

    private var targetFacts: JSONObject? {
        let value = target.value
        guard let host = value.host else { return nil }
        var object: JSONObject = ["host": .string(host)]
        if !value.addresses.isEmpty {
            object["addresses"] = .strings(value.addresses.map(\.description))
            // A literal address needs no lookup: it is known from the start.
            object["known_from_offset_ms"] = .integer(value.knownAt.map { max(0, ($0 - start).milliseconds) } ?? 0)
        }
        return object
    }

    private func timeFacts(_ steps: [ClockWatch.Step]) -> JSONObject {
        var object = JSONObject()
        let synchronised = clinux_clock_synchronised()
        if synchronised >= 0 { object["synchronised"] = .bool(synchronised == 1) }
        object["server_offset_ms"] = admission.clockOffset.map { .integer($0.milliseconds) }
        object["steps"] = .array(
            steps.map { .object(["offset_ms": .integer($0.offset.milliseconds), "size_ms": .integer($0.size.milliseconds)]) })
        return object
    }
}

/// Ids of measurements: random UUIDs (RFC 9562, version 4).
enum MeasurementID {
    static func make() -> String {
        var random = SystemRandomNumberGenerator()
        var octets = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        let digits = octets.map { octet in
            let text = String(octet, radix: 16)
            return octet < 16 ? "0" + text : text
        }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { digits[$0].joined() }.joined(separator: "-")
    }
}
