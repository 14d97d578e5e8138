import CollectorCore
@testable import Geolocation
import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

/// Start and end of a test, and what stays behind: nothing.
@Suite struct LifecycleTests {
    @Test("without the permission no socket is opened (R-25)")
    func denied() async throws {
        let clients = SharedState(0)
        let server = try FakeGPSD { _ in clients.withLock { $0 += 1 } }
        defer { server.stop() }
        let bench = Bench(port: server.port, permissions: .none)
        try await Task.sleep(for: .milliseconds(300))
        let result = await bench.finish()
        #expect(result.record.state == .denied && result.snapshots.isEmpty)
        #expect(clients.withLock { $0 } == 0 && bench.log.isEmpty)
    }

    @Test(
        "a test that ends at once, whatever gpsd is like (R-4, R-24)",
        arguments: ["192.0.2.1", "name.invalid", "localhost", "::1", "", "GPSD_SHARED_MEMORY", "not an address"])
    func immediateEnd(_ host: String) async throws {
        let bench = Bench(port: try LoopbackPort.pick(), host: host)
        let result = await bench.finish()
        #expect(result.isPrompt && result.snapshots.isEmpty)
    }

    @Test(
        "a host that cannot be reached, and a name that has no address, are no daemon (R-24)",
        arguments: ["127.0.0.1", "localhost", "not an address"])
    func unreachable(_ host: String) async throws {
        let bench = Bench(port: try LoopbackPort.pick(), host: host, timing: .short)
        #expect(await bench.wait { $0.states.contains("no_daemon") })
        #expect(await bench.finish().record.detail?.isEmpty == false)
    }

    @Test("localhost is this machine")
    func localhost() async throws {
        let server = try FakeGPSD { FaultTests.stream($0) }
        defer { server.stop() }
        let bench = Bench(port: server.port, host: "LocalHost")
        #expect(await bench.wait { !$0.snapshots.isEmpty })
        _ = await bench.finish()
    }

    @Test("two tests at the same time do not share anything")
    func concurrent() async throws {
        let server = try FakeGPSD { FaultTests.stream($0) }
        defer { server.stop() }
        let benches = (0..<4).map { _ in Bench(port: server.port) }
        for bench in benches { #expect(await bench.wait { $0.snapshots.count >= 3 }) }
        for bench in benches { #expect(await bench.finish().record.state == .ok) }
        #expect(await benches[0].wait { _ in server.connected == 0 })
    }

    @Test("a fix that was waiting for more about its moment is not lost at the end")
    func lastFix() async throws {
        let server = try FakeGPSD { client in
            guard FaultTests.greet(client) else { return }
            client.send(line(0))
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        var timing = Timing.patient
        timing.settle = .seconds(60)
        let bench = Bench(port: server.port, timing: timing)
        #expect(await bench.wait { _ in server.requests == 1 })
        try await Task.sleep(for: .milliseconds(500))
        #expect(await bench.finish().record.recorded == 1)
    }

    @Test("a test that ends before the first fix says that something was missed (R-9)")
    func tooShort() async throws {
        let server = try FakeGPSD { client in
            FaultTests.greet(client)
            client.pause(.seconds(60))
        }
        defer { server.stop() }
        let bench = Bench(port: server.port)
        #expect(await bench.wait { _ in server.requests == 1 })
        try await Task.sleep(for: .milliseconds(300))
        let result = await bench.finish()
        #expect(result.record.state == .unavailable && result.record.reason == "no_fix" && result.gaps == ["no_fix"])
    }

    @Test("a standing absence is told again and again: no silence of the collector's own")
    func heartbeat() async throws {
        let bench = Bench(port: try LoopbackPort.pick(), timing: .short)
        try await Task.sleep(for: .seconds(8))
        #expect(await bench.finish().gaps == ["gpsd_away"])
    }

    @Test("a blocking call is left behind, and cleans up after itself")
    func abandonedCall() async throws {
        final class Token: Sendable {
            let released: SharedState<Bool>
            init(_ released: SharedState<Bool>) { self.released = released }
            deinit { released.withLock { $0 = true } }
        }
        let released = SharedState(false)
        do {
            let call = try BlockingCall { () -> Token in
                usleep(200_000)
                return Token(released)
            }
            #expect(call.descriptor >= 0)
        }
        let end = MonotonicInstant.now() + .seconds(10)
        while !released.withLock({ $0 }), MonotonicInstant.now() < end { try await Task.sleep(for: .milliseconds(10)) }
        #expect(released.withLock { $0 })
    }

    @Test("two hundred tests leave no descriptor and no thread behind (R-3)")
    func leaks() async {
        // A process of its own: other tests open and close descriptors all the time. There is one such test only, because it keeps one of
        // the few threads that all tests share from running.
        await #expect(processExitsWith: .success) {
            let server = try FakeGPSD { FaultTests.stream($0, every: .milliseconds(5)) }
            let absent = try LoopbackPort.pick()
            var timing = Timing.short
            timing.settle = .milliseconds(1)
            func cycle(_ number: Int) async {
                let bench = Bench(
                    port: number % 4 == 3 ? absent : server.port, host: number % 8 == 5 ? "name.invalid" : "127.0.0.1", timing: timing)
                if number % 4 == 0 { _ = await bench.wait { !$0.snapshots.isEmpty } }
                if number % 4 == 1 { try? await Task.sleep(for: .milliseconds(number % 20)) }
                _ = await bench.finish()
            }
            for number in 0..<20 { await cycle(number) }
            let before = await Resources.settled(server)
            for number in 0..<200 { await cycle(number) }
            let after = await Resources.settled(server, like: before)
            #expect(after.descriptors <= before.descriptors)
            #expect(after.threads <= before.threads)
            server.stop()
        }
    }
}

/// What a process holds.
struct Resources: Equatable {
    let descriptors: Int
    let threads: Int

    static func now() -> Resources {
        Resources(descriptors: namesInFolder("/proc/self/fd").count, threads: namesInFolder("/proc/self/task").count)
    }

    /// Once the server's clients have gone; with an expectation, once it is met or ten seconds have passed.
    static func settled(_ server: FakeGPSD, like expected: Resources? = nil) async -> Resources {
        let end = MonotonicInstant.now() + .seconds(10)
        while MonotonicInstant.now() < end {
            try? await Task.sleep(for: .milliseconds(expected == nil ? 500 : 50))
            guard server.connected == 0 else { continue }
            let resources = now()
            guard let expected else { return resources }
            if resources.descriptors <= expected.descriptors, resources.threads <= expected.threads { return resources }
        }
        return now()
    }
}
