import CollectorCore
@testable import Geolocation
import Glibc
import LabSupport
import MeasurementModel
import Testing

/// Faults of the protocol and the connection, by a fake gpsd. Covers R-4, R-24.
@Suite struct FaultTests {
    /// Greets, answers the first request, and sends fixes until the client goes.
    static func stream(_ client: FakeGPSD.Client, from first: Int = 0, every pause: Duration = .milliseconds(20)) {
        guard greet(client) else { return }
        var tick = first
        while client.send(line(tick)), client.pause(pause) { tick += 1 }
    }

    @discardableResult
    static func greet(_ client: FakeGPSD.Client) -> Bool {
        client.send(FakeGPSD.banner)
        return client.request() != nil && client.send(FakeGPSD.answer(devices: "/dev/a"))
    }

    @Test("no gpsd: no daemon, few attempts, two lines of log (R-24, P70)")
    func absent() async throws {
        let bench = Bench(port: try LoopbackPort.pick())
        #expect(await bench.wait { $0.states.contains("no_daemon") })
        try await Task.sleep(for: .seconds(2))
        let result = await bench.finish()
        #expect(result.record.state == .unavailable && result.record.reason == "no_daemon" && result.gaps == ["gpsd_away"])
        #expect(result.record.gaps[0].from == .zero && result.record.detail?.contains("refused") == true)
        #expect(bench.log.count <= 2 && result.isPrompt)
    }

    @Test("a gpsd that comes while the test runs")
    func comesLater() async throws {
        let port = try LoopbackPort.pick()
        let bench = Bench(port: port, timing: .short)
        #expect(await bench.wait { $0.gaps.contains("+gpsd_away") })
        let server = try FakeGPSD(port: port) { Self.stream($0) }
        defer { server.stop() }
        #expect(await bench.wait { $0.snapshots.count >= 3 })
        #expect(await bench.finish().record.state == .ok)
    }

    @Test("who accepts and says nothing is no gpsd, and does not delay the end (P50)")
    func noBanner() async throws {
        let server = try FakeGPSD { _ = $0.pause(.seconds(60)) }
        defer { server.stop() }
        let bench = Bench(port: server.port, timing: .short)
        #expect(await bench.wait { $0.states.contains("no_daemon") })
        let result = await bench.finish()
        #expect(result.isPrompt && result.gaps.contains("gpsd_away"))
    }

    @Test("an end of file after the connection is away, with back-off (P66)")
    func endOfFile() async throws {
        let server = try FakeGPSD { _ in }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { $0.states.contains("no_daemon") })
        try await Task.sleep(for: .seconds(1))
        let result = await bench.finish()
        #expect(result.isPrompt && result.snapshots.isEmpty && result.gaps == ["gpsd_away"])
    }

    @Test("an end of file within a line costs no processor time, and is followed by a new connection (P66)")
    func halfClosed() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            client.send(line(0))
            client.send(String(line(1).prefix(40)))
        }
        defer { server.stop() }
        let bench = Bench(port: server.port, timing: .short)
        #expect(await bench.wait { $0.gaps.contains("-gpsd_away") })
        let result = await bench.finish()
        #expect(result.record.recorded == 1 && server.requests >= 2)
    }

    @Test("a line that comes octet by octet, and two at once, are lines (P60)")
    func octetByOctet() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            for octet in Array(line(0).utf8) {
                guard client.send([octet]) else { return }
                usleep(200)
            }
            client.send(line(1) + line(2) + String(line(3).prefix(30)))
            usleep(50_000)
            client.send(String(line(3).dropFirst(30)))
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { $0.snapshots.count == 4 })
        #expect(await bench.finish().record.rejected.isEmpty)
    }

    @Test("garbage, NUL, NaN and cut lines are counted, and nothing of them is recorded (R-8, P58)")
    func garbage() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            client.send(line(0))
            client.send("\u{7F}\u{1}not json\r\n")
            client.send([0xFF, 0xFE, 0x80, 0x0A])
            client.send(#"{"class":"TPV","mode":3,"lat":-nan,"lon":-nan,"eph":5}"# + "\r\n")
            // libgps shows what comes before the NUL only: that part alone would be a fix.
            client.send(#"{"class":"TPV","device":"/dev/a","mode":3,"lat":1.5,"lon":2.5,"eph":5}"# + "\0tail\r\n")
            client.send(String(line(1).dropLast(20)) + "\r\n")
            client.send("\r\n\n")
            client.send(#"{"class":"NEW","x":{"y":[1,2]}}"# + "\r\n")
            client.send(line(2))
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { $0.snapshots.count == 2 })
        let result = await bench.finish()
        #expect(result.record.rejected == ["malformed": 7] && result.gaps.isEmpty)
        #expect(result.snapshots.allSatisfy { $0.latitude >= 48 })
    }

    @Test("a line of 66 kB, which libgps does not take, costs one connection and no more (P60)")
    func longLine() async throws {
        let server = try FakeGPSD { client in
            client.send(FakeGPSD.banner)
            guard let (_, number) = client.request() else { return }
            client.send(FakeGPSD.answer(devices: "/dev/a"))
            if number == 1 { client.send(#"{"class":"SKY","x":""# + String(repeating: "s", count: 66_000) + "\"}\r\n") }
            var tick = 0
            while client.send(line(tick)), client.pause(.milliseconds(20)) { tick += 1 }
        }
        defer { server.stop() }
        let bench = Bench(port: server.port, timing: .short)
        #expect(await bench.wait { $0.snapshots.count >= 3 })
        #expect(await bench.finish().record.state == .ok)
    }

    @Test("a gpsd that repeats one report for ever is a gap, not a position (P52)")
    func frozenReport() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            while client.send(line(0)), client.pause(.milliseconds(50)) {}
        }
        defer { server.stop() }
        let bench = Bench(port: server.port, timing: .short, minimumDistance: 0)
        #expect(await bench.wait { $0.gaps.contains("+fix_refused") })
        let result = await bench.finish()
        #expect(result.record.recorded == 1 && (result.record.rejected["repeated"] ?? 0) > 5)
    }

    @Test("a long silence costs no processor time (P66)")
    func idle() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            client.send(#"{"class":"TPV","device":"/dev/a","mode":3,"lat":48,"lon":11}"# + "\r\n")
            client.send(String(line(0).prefix(50)))
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        var timing = Timing.short
        (timing.watchAgain, timing.reconnect) = (.seconds(60), .seconds(60))
        let bench = Bench(port: server.port, timing: timing)
        #expect(await bench.wait { $0.gaps.contains("+receiver_silent") })
        let before = bench.processorTime
        try await Task.sleep(for: .seconds(2))
        #expect(bench.processorTime - before < 0.1)
        _ = await bench.finish()
    }

    @Test("a half-open connection: silence, asked again, connected again, and the end at once (P48)")
    func halfOpen() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            client.send(line(0))
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        var timing = Timing.short
        timing.reconnect = .seconds(3)
        let bench = Bench(port: server.port, timing: timing)
        #expect(await bench.wait { $0.gaps.contains("+receiver_silent") })
        #expect(await bench.wait { _ in server.requests >= 2 })
        let result = await bench.finish()
        #expect(result.isPrompt && result.record.recorded == 1)
    }

    @Test("a reset connection is followed by a new one")
    func reset() async throws {
        let server = try FakeGPSD { client in
            client.send(FakeGPSD.banner)
            guard let (_, number) = client.request() else { return }
            client.send(FakeGPSD.answer(devices: "/dev/a") + line(number * 10))
            guard number < 3 else { return _ = client.pause(.seconds(60)) }
            client.pause(.milliseconds(500))
            client.reset()
        }
        defer { server.stop() }
        let bench = Bench(port: server.port, timing: .short)
        #expect(await bench.wait { $0.snapshots.count >= 3 })
        #expect(await bench.finish().gaps.contains("gpsd_away"))
    }

    @Test("a collector that was held up for three seconds at 50 Hz goes on with the newest fix, not with old ones (P65)")
    func heldUp() async throws {
        let begun = MonotonicInstant.now()
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            // The receiver's time and its latitude run with the clock: 1e-4 degrees a second.
            while true {
                let second = (MonotonicInstant.now() - begun).inSeconds
                guard client.send(line(exactly: second)), client.pause(.milliseconds(20)) else { return }
            }
        }
        defer { server.stop() }
        // The observer is called on the collector's own thread.
        var timing = Timing.patient
        timing.maximumLagOvertaken = .seconds(1)
        let bench = Bench(port: server.port, timing: timing, minimumDistance: 0) { if $0 == 20 { usleep(3_000_000) } }
        #expect(await bench.wait { $0.snapshots.count >= 60 })
        let result = await bench.finish()
        #expect((result.record.rejected["late"] ?? 0) >= 50)
        let lags = result.snapshots.map { snapshot in
            snapshot.offset.inSeconds - (snapshot.latitude - 48) * 1e4
        }
        // Only what differs between them counts: the test's start and the server's are not the same moment.
        let least = try #require(lags.min())
        // A hundred old ones lay before the newest. A single one may come from a server that had to wait its turn.
        #expect(lags.count { $0 - least > 1.5 } < 10)
    }

    @Test("a flood of other lines does not starve the fixes, and the end comes at once")
    func flood() async throws {
        let sky = #"{"class":"SKY","satellites":["# + (0..<12).map { #"{"PRN":\#($0),"el":10}"# }.joined(separator: ",") + "]}\r\n"
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            var tick = 0
            while client.send(String(repeating: sky, count: 10)), client.send(line(tick)) { tick += 10 }
        }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { $0.snapshots.count >= 3 })
        #expect(await bench.finish().isPrompt)
    }

    @Test("a fix, and at once after it the notice that its receiver has gone: the fix is kept, and the receiver is gone")
    func unpluggedAtOnce() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            client.send(line(0) + #"{"class":"DEVICE","path":"/dev/a","activated":0}"# + "\r\n")
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { $0.gaps.contains("+no_device") })
        try await Task.sleep(for: .milliseconds(500))
        #expect(bench.states.last == "no_device" && !bench.gaps.contains("-no_device"))
        #expect(await bench.finish().record.recorded == 1)
    }

    @Test("a receiver that gpsd says has gone is no device, until it is back (R-24)")
    func unplugged() async throws {
        let server = try FakeGPSD { client in
            guard Self.greet(client) else { return }
            client.send(line(0))
            client.pause(.milliseconds(500))
            client.send(#"{"class":"DEVICE","path":"/dev/a","activated":0}"# + "\r\n")
            client.pause(.milliseconds(500))
            client.send(#"{"class":"DEVICE","path":"/dev/a","activated":"2026-11-30T13:00:00.000Z"}"# + "\r\n" + line(50))
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { $0.snapshots.count == 2 })
        #expect(await bench.finish().gaps == ["no_device"])
    }
}
