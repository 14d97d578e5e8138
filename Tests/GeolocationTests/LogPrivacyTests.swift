@testable import Geolocation
import LabSupport
import MeasurementModel
import Testing

/// No position, and nothing that gpsd says, ever reaches the log.
@Suite struct LogPrivacyTests {
    private static let planted = ["61.234567", "-25.765432", "612345", "-61.2", "/dev/61.234567"]

    @Test("planted coordinates never appear in the log, at its most talkative")
    func planted() async throws {
        let server = try FakeGPSD { client in
            let place = #""lat":61.234567,"lon":-25.765432,"eph":5,"altMSL":6123.45"#
            let device = #""device":"/dev/61.234567""#
            client.send(#"{"class":"VERSION","release":"61.234567"}"# + "\r\n")
            guard let (_, number) = client.request() else { return }
            client.send(FakeGPSD.answer(devices: "/dev/61.234567"))
            client.send(#"{"class":"ERROR","message":"no such device as 61.234567 -25.765432"}"# + "\r\n")
            client.send(#"{"class":"TPV",\#(device),"mode":1,\#(place)}"# + "\r\n")
            client.send(#"{"class":"TPV",\#(device),"mode":3,"time":"\#(noon(Double(number)))",\#(place)}"# + "\r\n")
            client.send(#"{"class":"TPV",\#(device),"mode":3,"status":8,\#(place)}"# + "\r\n")
            client.send(#"{"class":"TPV",\#(device),"mode":3,\#(place)"# + "\r\n")
            client.send(#"{"class":"DEVICE","path":"/dev/61.234567","activated":0}"# + "\r\n")
            // The first connection falls silent, the others end.
            client.pause(number == 1 ? .seconds(60) : .milliseconds(300))
        }
        defer { server.stop() }
        var timing = Timing.short
        (timing.reconnect, timing.watchAgain) = (.seconds(2), .seconds(1))
        let bench = Bench(port: server.port, timing: timing)
        #expect(await bench.wait { !$0.snapshots.isEmpty && $0.gaps.contains("-gpsd_away") && $0.gaps.contains("-no_device") })
        let result = await bench.finish()
        #expect(result.snapshots.contains { $0.latitude == 61.234567 })
        #expect(!bench.log.isEmpty)
        for line in bench.log {
            for secret in Self.planted { #expect(!line.contains(secret)) }
        }
    }
}
