import DeviceRegistration
import HTTPTransport
import LabSupport
import ServerLab
import Testing

/// The way to the server: certificates are always checked, by whichever authority; a proxy is used where one is named.
@Suite struct TransportTests {
    private func failure(at address: String, _ change: (inout Registry.Settings) -> Void = { _ in }) async throws -> RegistryError? {
        let device = try Device()
        var settings = device.settings()
        change(&settings)
        let registry = Registry(apiEndpoint: address, settings: settings)
        return await registryError { try await registry.registerClient(registrationKey: "good-key") }
    }

    @Test func onlyATrustedServerIsTalkedTo() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let stranger = try await failure(at: "https://localhost:\(server.port)")
        #expect(stranger?.code == .unreachable && stranger?.transport?.code == .untrustedCertificate)
        // With its authority the server is reached; that it is no client API is another matter.
        let known = try await failure(at: "https://localhost:\(server.port)") { $0.caFile = server.caFile }
        #expect(known?.code == .unexpectedAnswer)
        let otherName = try await failure(at: "https://127.0.0.1:\(server.port)") { $0.caFile = server.caFile }
        #expect(otherName?.transport?.code == .untrustedCertificate)
        let noFile = try await failure(at: "https://localhost:\(server.port)") { $0.caFile = "/nonexistent" }
        #expect(noFile?.transport?.code == .unreadableCAFile)
    }

    @Test func throughAProxy() async throws {
        let heads = Collected<String>()
        try await LoopbackServer.run { connection in
            while let head = connection.readRequest() {
                heads.add(head)
                connection.respond("503 Unavailable")
            }
        } test: { proxy in
            let error = try await failure(at: "http://server.example/client_api/v1") {
                $0.proxy = .url(proxy.url)
                $0.allowsPlainHTTP = true
            }
            #expect(error?.code == .serverFailed)
            #expect(heads.values.first?.hasPrefix("POST http://server.example/client_api/v1/registrations ") == true)
        }
    }

    @Test func aServerThatHangs() async throws {
        try await LoopbackServer.run {
            $0.hang()
        } test: { server in
            let error = try await failure(at: server.url) { $0.timeouts.firstByte = .milliseconds(200) }
            #expect(error?.code == .unreachable && error?.transport?.phase == .firstByte)
            #expect(error?.retry == .later(after: nil))
        }
    }

    @Test func cancelling() async throws {
        try await LoopbackServer.run {
            $0.hang()
        } test: { server in
            let device = try Device()
            let registry = Registry(apiEndpoint: server.url, settings: device.settings())
            let task = Task { try await registry.registerClient(registrationKey: "good-key") }
            while server.connections == 0 { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
