import FieldProbe
import LabSupport
import Testing

/// The README's "In an app", compiled as an app would: with no other module of this package. ``ReadmeTests/itIsTheSame()`` holds the two together.
private func test(key: String, measure: @Sendable () async throws -> Int) async throws -> Report {
    // begin: test
    let registry = Registry(apiEndpoint: "https://server.example/client_api/v1")
    try await registry.registerClient(registrationKey: key, label: "van 7")  // once; it confirms the device too

    let test = try QualityTest(
        type: "WEB", subject: "website", registry: registry, target: "server.example",
        collectors: [ConnectionDetailCollector(), GeolocationCollector(), MyCollector()],
        permissions: Permissions(granted: [.preciseLocation]))
    let report = try await test.run { session in try await measure() }  // any Encodable & Sendable result
    // end
    return report
}

private func readTemperature() throws -> Double { 21.5 }

// begin: collector
struct MyCollector: Collector {
    let descriptor = CollectorDescriptor(
        name: "thermal", version: "1.0", trace: "thermal_trace",
        fields: [.number("temperature", unit: .celsius, privacy: .otherDiagnosticData, changes: .by(0.5), about: "Hottest zone")])

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        while !session.wait(until: session.clock.now() + .seconds(1)).isCancelled {
            trace.record(["temperature": .number(try readTemperature())])
        }
    }
}
// end

@Suite struct ReadmeTests {
    @Test func itIsTheSame() throws {
        let readme = Self.words(try #require(TemporaryFolder.read("README.md"), "tests run in the package's folder"))
        let source = try #require(TemporaryFolder.read("Tests/FieldProbeTests/ReadmeTests.swift"))
        let parts = source.split(separator: "// begin: ").dropFirst().prefix(2)
        for part in parts {
            let lines = part.split(separator: "// end")[0].drop { $0 != "\n" }
            #expect(readme.contains(Self.words(lines)))
        }
        #expect(parts.count == 2)
    }

    /// Without the spaces that a formatter sees to.
    private static func words(_ text: some StringProtocol) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    @Test func aDeviceThatIsNotRegisteredRunsNoTest() throws {
        let folder = try TemporaryFolder()
        var settings = Registry.Settings()
        settings.stateFolder = "\(folder.path)/state"
        let registry = Registry(apiEndpoint: "https://server.example/client_api/v1", settings: settings)
        let refusal = #expect(throws: TestRefusal.self) { try QualityTest(type: "WEB", subject: "website", registry: registry) }
        #expect(refusal?.code == .notRegistered)
    }
}
