import FieldProbe

// What docs/linking.md and the documentation's articles show, compiled as an app would: with no other module of this package. None of it
// runs here. DocumentedCodeTests holds the texts and this file together.

private struct Speed: Encodable, Sendable { let megabitsPerSecond: Double }
private func measureSpeed() async throws -> Speed { Speed(megabitsPerSecond: 94.1) }
private func show(_ text: String) {}

private func runATest() async throws -> Report {
    // begin: a test
    let test = try QualityTest(
        type: "SPEED", subject: "download", gate: OpenGate(), target: "server.example", collectors: [ConnectionDetailCollector()])
    let report = try await test.run { session in try await session.withinGrant { try await measureSpeed() } }
    show("\(report.finishedReason): \(report.result?["megabitsPerSecond"]?.double ?? 0) Mbit/s")
    // end
    return report
}

private func register(key: String) async throws {
    // begin: registry
    let registry = Registry(
        apiEndpoint: "https://server.example/client_api/v1", settings: Registry.Settings(stateDirectory: "/var/lib/my-app"))
    if !registry.isClientRegistered() {
        try await registry.registerClient(registrationKey: key, label: "van 7")
    } else if !registry.isRegistrationValid() {
        _ = try await registry.authenticate()  // the granted time has run out: ask for more
    }
    // end

    // begin: queue
    let queue = MeasurementQueue(stateDirectory: "/var/lib/my-app")
    try queue.serve(registry)  // sends whenever no test runs, until queue.close()
    let test = try QualityTest(
        type: "SPEED", subject: "download", registry: registry, target: "server.example", collectors: [ConnectionDetailCollector()],
        queue: queue)
    // end
    _ = test
}

private func refusal(registry: Registry) {
    // begin: refusal
    do {
        _ = try QualityTest(type: "SPEED", subject: "download", registry: registry)
    } catch let refusal as TestRefusal where refusal.code == .notRegistered {
        show(refusal.message)  // says what to do
    } catch {
        show("\(error)")
    }
    // end
}

private func listen() throws -> QualityTest {
    // begin: listener
    var settings = QualityTest.Settings()
    settings.listener = { report in show("report \(report.id) has \(report.traces.count) traces") }
    settings.collectors.observer = { event in show("something happened in \(event.trace)") }
    settings.collectors.logger = .standardError(category: "my-app", minimum: .warning)
    let test = try QualityTest(type: "SPEED", subject: "download", gate: OpenGate(), settings: settings)
    // end
    return test
}

private func permit(_ collectors: [any Collector]) throws -> String {
    // begin: permissions
    let permissions = Permissions.none.granting(
        [.preciseLocation], for: Permissions.Purpose(key: "drive-test", text: "Compares measured quality by place."))
    let test = try QualityTest(
        type: "SPEED", subject: "download", gate: OpenGate(), collectors: [GeolocationCollector()], permissions: permissions)
    // end
    _ = test
    // begin: manifest
    let manifest = PrivacyManifest(
        collectors: collectors.map(\.descriptor), permissions: permissions, destination: "https://server.example/client_api/v1")
    show(String(decoding: manifest.json.utf8(), as: UTF8.self))
    // end
    return "\(manifest.json)"
}

private func foreign() async throws -> CollectorDescriptor {
    // begin: foreign
    var settings = ProgramCollector.Settings()
    settings.configuration = ["zone": "0"]
    let thermal = ProgramCollector(name: "thermal", program: "/opt/my-app/thermal-collector", settings: settings)
    let descriptor = try await thermal.describe()  // what it says that it records, for the privacy manifest
    // end
    return descriptor
}
