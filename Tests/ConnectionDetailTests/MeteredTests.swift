import LabSupport
import MeasurementModel
import Testing

@testable import ConnectionDetail

/// What a real NetworkManager says of a connection being metered.
struct MeteredTests {
    @Test("R-15 NetworkManager's word is taken, with its provenance, and followed while the test runs")
    func networkManager() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            let lab = try ScriptedLab("networkmanager/lab", Lab.cache("networkmanager"), "d0")
            defer { lab.end() }
            var settings = ConnectionDetailSettings()
            settings.busAddress = lab.words[1]
            settings.pollInterval = .milliseconds(200)
            let probe = TraceProbe(settings: settings)
            #expect(probe.wait { $0.fields["is_connection_expensive"] == "false" })
            try lab.say("yes")
            #expect(probe.wait { $0.fields["is_connection_expensive"] == "true" })
            try lab.say("no")
            #expect(probe.wait { $0.fields["is_connection_expensive"] == "false" })
            let (record, _) = probe.finish(in: namespace)
            #expect(record.provenance["is_connection_expensive"] == "NetworkManager")
        }
    }

    @Test(
        "Values of the property",
        arguments: [
            (0, .unknown), (1, .known(true)), (2, .known(false)), (3, .guessed(true)), (4, .guessed(false)), (9, .unknown),
        ] as [(UInt32, NetworkManagerMetering.Answer)])
    func values(value: UInt32, answer: NetworkManagerMetering.Answer) { #expect(NetworkManagerMetering.answer(value) == answer) }

    @Test("No bus is an answer, and costs next to nothing")
    func noBus() {
        let metering = NetworkManagerMetering(address: "unix:path=/nonexistent/bus")
        #expect(metering.metered("d0", now: .now(), maximumAge: .seconds(1)) == .absent)
    }
}
