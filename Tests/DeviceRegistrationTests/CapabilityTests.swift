import MeasurementModel
import Testing

@testable import DeviceRegistration

/// R-36: forbidden beats allowed, an empty allowed list is everything that is not forbidden.
@Suite struct CapabilityTests {
    @Test(
        arguments: [
            (Capability(), true), (Capability(allowedTypes: ["WEB"]), true), (Capability(allowedTypes: ["VIDEO"]), false),
            (Capability(allowedSubjects: ["website"]), true), (Capability(allowedSubjects: ["other"]), false),
            (Capability(allowedTypes: ["WEB"], allowedSubjects: ["other"]), false),
            (Capability(forbiddenTypes: ["WEB"]), false), (Capability(forbiddenTypes: ["VIDEO"]), true),
            (Capability(forbiddenSubjects: ["website"]), false),
            (Capability(allowedTypes: ["WEB"], forbiddenTypes: ["WEB"]), false),
            (Capability(allowedTypes: ["WEB"], allowedSubjects: ["website"], forbiddenSubjects: ["website"]), false),
            (Capability(allowedTypes: ["web"]), false),
        ])
    func website(_ capability: Capability, _ isAllowed: Bool) {
        #expect(capability.allows(type: "WEB", subject: "website") == isAllowed)
        #expect(Capability(json: capability.json) == capability)
    }

    @Test func absentListsAreEmpty() throws {
        #expect(Capability(json: .object([:])) == Capability())
        #expect(
            Capability(json: try JSONValue(parsing: #"{"allow_types":null,"forbid_types":["A"]}"#)) == Capability(forbiddenTypes: ["A"]))
    }
}
