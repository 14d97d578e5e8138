import CollectorCore
import MeasurementModel
import Testing

@testable import ExternalCollector

/// The pure parts: lines, messages, declarations, floods.
struct ProtocolTests {
    @Test("R-48 Lines come out of any chunks, and a long one is told once")
    func lines() {
        var buffer = LineBuffer(maximum: 4)
        func lines(_ text: String) -> [LineBuffer.Line] { buffer.append(Array(text.utf8)) }
        func whole(_ text: String) -> LineBuffer.Line { .whole(Array(text.utf8)) }
        var found = lines("ab")
        #expect(found == [])
        #expect(buffer.isInsideLine)
        found = lines("cd\n\nef\n")
        #expect(found == [whole("abcd"), whole(""), whole("ef")])
        #expect(!buffer.isInsideLine)
        found = lines("12345")
        #expect(found == [.tooLong])
        found = lines("67890")
        #expect(found == [])
        #expect(buffer.isInsideLine)
        found = lines("x\nok\n123456\nok")
        #expect(found == [whole("ok"), .tooLong])
        #expect(buffer.isInsideLine)
        buffer.leaveOutCurrent()
        #expect(buffer.isInsideLine)
        found = lines("rest\nok\n")
        #expect(found == [whole("ok")])
        buffer.leaveOutCurrent()
        #expect(!buffer.isInsideLine)
        found = lines("be")
        #expect(found == [])
        found = lines("gn\n")
        #expect(found == [whole("begn")])
    }

    static let faultyLines: [(String, String)] = [
        ("", "not_json"), ("nonsense", "not_json"), ("[]", "not_json"), ("{\"message\":\"record\"", "not_json"),
        ("{\"message\":\"record\",\"values\":{\"a\":NaN}}", "not_json"), ("{}", "unknown_message"), ("{\"message\":7}", "unknown_message"),
        ("{\"message\":\"dance\"}", "unknown_message"), ("{\"message\":\"record\"}", "bad_record"),
        ("{\"message\":\"record\",\"values\":{},\"at\":\"now\"}", "bad_record"),
        ("{\"message\":\"record\",\"values\":{},\"at\":1.5}", "bad_record"),
        ("{\"message\":\"record\",\"values\":{},\"at\":-1}", "bad_record"),
        ("{\"message\":\"record\",\"values\":{},\"at\":99999999999999999999}", "bad_record"), ("{\"message\":\"gap\"}", "bad_gap"),
        ("{\"message\":\"gap\",\"reason\":\"x\",\"event\":\"passed\",\"from\":5}", "bad_gap"),
        ("{\"message\":\"gap\",\"reason\":\"x\",\"event\":\"passed\",\"from\":5,\"to\":4}", "bad_gap"),
        ("{\"message\":\"unavailable\"}", "bad_unavailable"),
        ("{\"message\":\"unavailable\",\"reason\":\"No Hardware\"}", "bad_unavailable"),
        ("{\"message\":\"rejected\",\"reason\":\"x\",\"count\":0}", "bad_rejected"),
        ("{\"message\":\"provenance\",\"subject\":\"x\"}", "bad_provenance"),
    ]

    @Test("R-48 A line that is no message has a word for why", arguments: faultyLines)
    func faultyLine(_ line: String, _ word: String) {
        let fault = #expect(throws: CollectorMessage.Fault.self) { try CollectorMessage(line: Array(line.utf8)) }
        #expect(fault?.word == word)
        #expect(fault?.detail.isEmpty == false)
    }

    private static func descriptor(_ changes: JSONObject = [:], field: JSONObject? = nil) throws -> JSONObject {
        var object: JSONObject = [
            "message": .string("descriptor"), "protocol": .integer(1), "name": .string("thermal"), "version": .string("1.0"),
            "trace": .string("thermal_trace"), "about": .string("Heat"), "maximum_silence_ms": .integer(2500),
            "requires": .strings(["wifi_identity"]),
        ]
        let standard: JSONObject = [
            "name": .string("temperature"), "type": .string("number"), "unit": .string("degC"),
            "privacy": .string("other_diagnostic_data"), "changes": .object(["by": .number(JSONNumber(0.5)!)]),
            "about": .string("Hottest zone"),
        ]
        object["fields"] = .array([.object(field ?? standard)])
        for member in changes.members {
            if case .null = member.value { object[member.key] = nil } else { object[member.key] = member.value }
        }
        return object
    }

    @Test("R-48 A descriptor is taken over whole")
    func descriptor() throws {
        let descriptor = try DescriptorDecoder.descriptor(Self.descriptor())
        #expect(descriptor.name == "thermal" && descriptor.version == "1.0" && descriptor.trace == "thermal_trace")
        #expect(descriptor.about == "Heat" && descriptor.requires == [.wifiIdentity] && descriptor.maximumSilence == .milliseconds(2500))
        let field = descriptor.fields[0]
        #expect(field.name == "temperature" && field.type == .number && field.unit == .celsius && field.about == "Hottest zone")
        #expect(field.privacy == .otherDiagnosticData && field.permission == nil && field.purpose == FieldDeclaration.standardPurpose)
        #expect(descriptor.configuration == nil)
        let keys = JSONValue.array([.object(["name": .string("interval-ms"), "about": .string("Time between two readings")])])
        let configured = try DescriptorDecoder.descriptor(Self.descriptor(["configuration": keys]))
        #expect(configured.configuration == [ConfigurationDeclaration("interval-ms", about: "Time between two readings")])
        guard case .by(0.5) = field.changes else { return #expect(Bool(false)) }
    }

    @Test("R-48 A key that the collector does not declare is refused, and only where it declares any")
    func unknownKeys() {
        var descriptor = CollectorDescriptor(name: "thermal", version: "1.0", trace: "thermal_trace", fields: [])
        #expect(ProgramCollector.unknownKey(["anything"], descriptor) == nil)
        descriptor.configuration = [ConfigurationDeclaration("interval-ms", about: "x"), ConfigurationDeclaration("zone", about: "x")]
        #expect(ProgramCollector.unknownKey(["zone"], descriptor) == nil)
        let failure = ProgramCollector.unknownKey(["zone", "intervall-ms"], descriptor)
        #expect(failure?.reason == "bad_configuration")
        #expect(failure?.description == "there is no key 'intervall-ms' in its [configuration]: there are interval-ms, zone")
        #expect(failure?.detail.contains("intervall") == false)
        descriptor.configuration = []
        #expect(ProgramCollector.unknownKey([], descriptor) == nil)
        #expect(
            ProgramCollector.unknownKey(["zone"], descriptor)?.description == "there is no key 'zone' in its [configuration]: it has none")
    }

    static let wrong: [(JSONObject, String)] = [
        (["protocol": .null], "the descriptor has no 'protocol', which is 1"),
        (["name": .string("Thermal Zone")], "the name 'Thermal Zone' is not lower-case words joined with hyphens"),
        (["name": .null], "the descriptor needs 'name', a text of 1 to 200 octets"),
        (["version": .string("")], "the descriptor needs 'version', a text of 1 to 200 octets"),
        (["trace": .string("result")], "the trace key 'result' is not lower-case words joined with underscores and ending in '_trace'"),
        (["fields": .array([])], "no field is declared, so nothing could ever be recorded"),
        (["fields": .string("x")], "the descriptor needs 'fields', an array of 200 at most"),
        (["fields": .array([.string("x")])], "a field is declared by an object, and 'x' is none"),
        (["requires": .strings(["root"])], "there is no permission 'root': one of precise_location, wifi_identity"),
        (["configuration": .object([:])], "'configuration' has to be an array of 200 keys at most"),
        (["configuration": .strings(["interval-ms"])], "a key is declared by an object, and 'interval-ms' is none"),
        (
            ["configuration": .array([.object(["name": .string("interval-ms")])])],
            "the configuration key 'interval-ms' needs 'about', a text of 1 to 200 octets"
        ),
        (
            ["configuration": .array([.object(["name": .string("Interval"), "about": .string("x")])])],
            "the configuration key 'Interval' is not lower-case words joined with hyphens"
        ),
        (["maximum_silence_ms": .integer(0)], "'maximum_silence_ms' has to be a whole number of milliseconds"),
    ]

    @Test("R-48 A wrong descriptor is refused in words that its author can act on", arguments: wrong)
    func wrongDescriptor(_ changes: JSONObject, _ detail: String) throws {
        let object = try Self.descriptor(changes)
        let fault = #expect(throws: DescriptorDecoder.Fault.self) { try DescriptorDecoder.descriptor(object) }
        #expect(fault?.detail == detail)
    }

    static let wrongFields: [(JSONObject, String)] = [
        (["type": .string("float")], "the field 'x' needs 'type': one of bool, integer, number, text, records, and 'float' is none"),
        (
            ["privacy": .string("public")],
            "the field 'x' needs 'privacy', its class of personal data: one of precise_location, device_identifier, performance_data, "
                + "other_diagnostic_data, connection_and_measurement_context, and 'public' is none"
        ),
        (
            ["privacy": .string("precise_location")],
            "the field 'x' tells where the device is, so it has to name 'permission': 'precise_location'"
        ),
        (["about": .string("")], "the field 'x' needs 'about', a text of 1 to 200 octets"),
        (["unit": .integer(3)], "the field 'x': 'unit' is a symbol such as 'degC'"),
        (["type": .string("records")], "the field 'x' is of type 'records' and needs 'members'"),
        (
            ["changes": .string("sometimes")],
            "the field 'x': 'changes' is 'any', 'never', {'by': AMOUNT} for numbers, or {'moved': METRES, 'longitude': FIELD} for a latitude"
        ),
        (["changes": .object(["moved": .integer(3), "longitude": .string("y")])], "the field 'x' moves with 'y', which is not declared"),
        (["name": .string("offset_ms")], "the field 'offset_ms' is set by the recorder"),
    ]

    @Test("R-26 A wrong field is refused in words that its author can act on", arguments: wrongFields)
    func wrongField(_ changes: JSONObject, _ detail: String) throws {
        var field: JSONObject = [
            "name": .string("x"), "type": .string("number"), "privacy": .string("performance_data"), "about": .string("A value"),
        ]
        for member in changes.members { field[member.key] = member.value }
        let object = try Self.descriptor(field: field)
        let fault = #expect(throws: DescriptorDecoder.Fault.self) { try DescriptorDecoder.descriptor(object) }
        #expect(fault?.detail == detail)
    }

    @Test("R-6 A position of a foreign collector is compared by metres")
    func movement() {
        // A degree of latitude is 111.2 km on the sphere; Berlin to Hamburg is some 255 km.
        #expect(abs(GreatCircle.metres((0, 0), (1, 0)) - 111_195) < 5)
        #expect(abs(GreatCircle.metres((52.52, 13.405), (53.5511, 9.9937)) - 255_200) < 500)
        #expect(GreatCircle.metres((10, 179.9999), (10, -179.9999)) < 25)
        #expect(GreatCircle.metres((10, 20), (10, 20)) == 0)
    }

    @Test("R-49 A flood begins when the burst is used up, and ends with a pause in which little came")
    func flood() {
        var limits = CollectorLimits()
        limits.lineBurst = 10
        limits.linesPerSecond = 100
        let start = MonotonicInstant(nanoseconds: 0)
        var guardian = FloodGuard(limits: limits, now: start)
        var isAdmitted = guardian.admits(lines: 9, octets: 1000, at: start)
        #expect(isAdmitted)
        // What has been earned since.
        isAdmitted = guardian.admits(lines: 5, octets: 500, at: start + .milliseconds(50))
        #expect(isAdmitted)
        isAdmitted = guardian.admits(lines: 5, octets: 500, at: start + .milliseconds(51))
        #expect(!isAdmitted)
        #expect(guardian.isFlood && guardian.resumesAt == start + .milliseconds(151))
        guardian.discarded(lines: 400, octets: 40_000, at: start + .milliseconds(151))
        #expect(guardian.resumesAt == start + .milliseconds(251))
        guardian.discarded(lines: 0, octets: 60_000, at: start + .milliseconds(251))
        #expect(guardian.isFlood)
        guardian.discarded(lines: 3, octets: 300, at: start + .milliseconds(351))
        #expect(!guardian.isFlood)
    }
}
