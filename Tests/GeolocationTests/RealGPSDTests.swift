import CollectorCore
@testable import Geolocation
import Glibc
import LabSupport
import MeasurementModel
import Testing

/// Against a real gpsd with receivers that a script plays.
@Suite struct RealGPSDTests {
    @Test("a probe that moves: every field, one snapshot each metre, in order (R-20, R-22)")
    func move() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:60,speed=20,rate=10", options: ["--lat", "48.5", "--lon", "-11.5"])
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { $0.snapshots.count >= 20 })
            let result = await bench.finish()
            #expect(result.isPrompt && result.record.state == .ok && result.record.recorded >= 20)
            let snapshots = result.snapshots
            let last = try #require(snapshots.last)
            #expect(last["device"]?.text == lab.device() && last["fix_mode"]?.integer == 3 && last["fix_status"] == nil)
            #expect(last["altitude"]?.double == 520 && last["ellipsoidal_altitude"]?.double == 560)
            #expect(abs((last["speed"]?.double ?? 0) - 20) < 0.1 && last["course"]?.double == 90)
            #expect(abs(last.latitude - 48.5) < 1e-6 && last.longitude > -11.5)
            let error95 = try #require(last["horizontal_accuracy_95"]?.double)
            #expect(abs((last["horizontal_accuracy"]?.double ?? 0) - error95 * 0.6167) < 0.001)
            #expect(last["gps_time_trusted"]?.bool == true && last["gps_time"]?.text?.hasSuffix("Z") == true)
            for (one, next) in zip(snapshots, snapshots.dropFirst()) {
                #expect(one.offset <= next.offset && one.longitude < next.longitude)
                let metres = GeolocationFields.distance((one.latitude, one.longitude), (next.latitude, next.longitude))
                #expect(metres >= 1)
            }
            #expect(result.record.provenance["gpsd"]?.hasPrefix("release 3.") == true)
        }
    }

    @Test("a probe that stands is one snapshot (R-6, R-20); each fix with a distance of nothing (R-20)")
    func stand() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("still:60,rate=10")
            let filtered = Bench(port: lab.port)
            let all = Bench(port: lab.port, minimumDistance: 0)
            #expect(await all.wait { $0.snapshots.count >= 30 })
            let result = await filtered.finish()
            #expect(result.record.recorded == 1 && result.record.suppressed >= 10)
            // The receiver's own best rate: ten fixes a second, none for its repetitions.
            let times = await all.finish().snapshots.compactMap { $0["gps_time"]?.text }
            #expect(times.count >= 30 && Set(times).count == times.count)
        }
    }

    @Test("a lost fix is a gap, the old position is never shown again, and the new one comes by itself (P55, P56)")
    func loss() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:2,speed=20,rate=10", "nofix:2,rate=10", "move:60,speed=20,rate=10")
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { $0.gaps.contains("+no_fix") })
            let before = bench.snapshots.count
            #expect(await bench.wait { $0.gaps.contains("-no_fix") && $0.snapshots.count > before + 5 })
            let result = await bench.finish()
            let gap = try #require(result.record.gaps.first { $0.reason == "no_fix" })
            #expect(result.snapshots.allSatisfy { $0.offset <= gap.from || $0.offset >= (gap.to ?? .zero) })
            #expect((result.record.rejected["no_fix"] ?? 0) > 0 && result.record.state == .ok)
        }
    }

    @Test("a 2D fix has a position and no altitude (R-22)")
    func twoDimensional() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("flat:60,rate=10")
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { !$0.snapshots.isEmpty })
            let snapshot = try #require(await bench.finish().snapshots.first)
            #expect(snapshot["fix_mode"]?.integer == 2 && snapshot["altitude"] == nil && snapshot["vertical_accuracy"] == nil)
        }
    }

    @Test("how the fix was made, as gpsd says it (P63)", arguments: [(1, nil), (2, "dgps"), (4, "rtk_fixed"), (5, "rtk_float")])
    func statuses(_ quality: Int, _ word: String?) async throws {
        try await GPSDLab.run { lab in
            try lab.feed("still:60,rate=10,quality=\(quality)")
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { !$0.snapshots.isEmpty })
            #expect(try #require(await bench.finish().snapshots.first)["fix_status"]?.text == word)
        }
    }

    @Test(
        "guessed, entered and simulated positions are never recorded (R-21)",
        arguments: [
            (6, "dead_reckoning"), (7, "surveyed"), (8, "simulated"),
        ])
    func refused(_ quality: Int, _ reason: String) async throws {
        try await GPSDLab.run { lab in
            try lab.feed("still:60,rate=10,quality=\(quality)")
            let bench = Bench(port: lab.port, timing: .short)
            #expect(await bench.wait { $0.gaps.contains("+fix_refused") })
            let result = await bench.finish()
            #expect(result.snapshots.isEmpty && (result.record.rejected[reason] ?? 0) > 0)
            #expect(result.record.state == .unavailable && result.record.reason == "fix_refused" && result.record.detail == reason)
            if quality == 8 {
                let lenient = Bench(port: lab.port, acceptsSimulated: true)
                #expect(await lenient.wait { $0.snapshots.first?["fix_status"]?.text == "simulated" })
                _ = await lenient.finish()
            }
        }
    }

    @Test("a fix of more than a hundred metres is approximate, and stays out (R-21)")
    func imprecise() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("still:60,rate=10,hdop=9.5")
            let bench = Bench(port: lab.port, timing: .short)
            #expect(await bench.wait { $0.gaps.contains("+fix_refused") })
            let result = await bench.finish()
            #expect(result.snapshots.isEmpty && (result.record.rejected["inaccurate"] ?? 0) > 0)
        }
    }

    @Test("two receivers: one is followed, the pinned one if one is pinned, and the other takes over when it dies (P67)")
    func twoReceivers() async throws {
        try await GPSDLab.run(receivers: 2) { lab in
            // The second ends first.
            try lab.feed("move:60,speed=20,rate=10", receiver: 0, options: ["--lat", "48"])
            try lab.feed("move:5,speed=20,rate=10", receiver: 1, options: ["--lat", "49"])
            let free = Bench(port: lab.port, minimumDistance: 0)
            var impatient = Timing.short
            impatient.receiverLoyalty = .seconds(1)
            let pinned = Bench(port: lab.port, device: lab.device(1), timing: impatient)
            #expect(await pinned.wait { $0.gaps.contains("+receiver_silent") })
            #expect(await free.wait { $0.snapshots.count >= 20 })
            let (one, other) = (await free.finish(), await pinned.finish())
            #expect(Set(one.snapshots.map { $0["device"]?.text }).count == 1)
            #expect((one.record.rejected["other_receiver"] ?? 0) > 0)
            #expect(!other.snapshots.isEmpty && other.snapshots.allSatisfy { $0["device"]?.text == lab.device(1) })
        }
    }

    @Test("a receiver that dies is replaced by the one that lives")
    func takeOver() async throws {
        try await GPSDLab.run(receivers: 2) { lab in
            var impatient = Timing.short
            impatient.receiverLoyalty = .seconds(1)
            try lab.feed("move:2,speed=20,rate=10", receiver: 0, options: ["--lat", "48"])
            let bench = Bench(port: lab.port, timing: impatient)
            #expect(await bench.wait { !$0.snapshots.isEmpty })
            try lab.feed("move:60,speed=20,rate=10", receiver: 1, options: ["--lat", "49"])
            #expect(await bench.wait { ($0.snapshots.last?.latitude ?? 0) > 48.9 })
            let latitudes = await bench.finish().snapshots.map { $0.latitude > 48.5 }
            // Once over, and never back.
            #expect(latitudes == latitudes.sorted { !$0 && $1 })
        }
    }

    @Test("gpsd killed and started again: a gap, and fixes again by themselves (R-24, P47)")
    func restart() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:120,speed=20,rate=10")
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { $0.snapshots.count >= 3 })
            lab.signalDaemon(SIGKILL)
            #expect(await bench.wait { $0.gaps.contains("+gpsd_away") })
            try await lab.startDaemon()
            let before = bench.snapshots.count
            #expect(await bench.wait { $0.gaps.contains("-gpsd_away") && $0.snapshots.count >= before + 5 })
            let result = await bench.finish()
            let gap = try #require(result.record.gaps.first { $0.reason == "gpsd_away" })
            #expect(result.snapshots.allSatisfy { $0.offset <= gap.from || $0.offset >= (gap.to ?? .zero) })
            #expect(result.record.state == .ok && result.isPrompt)
        }
    }

    @Test("a frozen gpsd: silence, and a test that ends in the middle of it ends at once (P48, P50)")
    func frozen() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:120,speed=20,rate=10")
            let bench = Bench(port: lab.port, timing: .short)
            #expect(await bench.wait { $0.snapshots.count >= 3 })
            lab.signalDaemon(SIGSTOP)
            #expect(await bench.wait { $0.gaps.contains("+receiver_silent") })
            let result = await bench.finish()
            #expect(result.isPrompt && result.gaps.contains("receiver_silent"))
            lab.signalDaemon(SIGCONT)
        }
    }

    @Test("a receiver that falls silent and speaks again (P52, P53)")
    func silence() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:1,speed=20,rate=10", "silence:4", "move:60,speed=20,rate=10")
            let bench = Bench(port: lab.port, timing: .short)
            #expect(await bench.wait { $0.gaps.contains("+receiver_silent") })
            let before = bench.snapshots.count
            #expect(await bench.wait { $0.gaps.contains("-receiver_silent") && $0.snapshots.count > before + 3 })
            #expect(await bench.finish().record.state == .ok)
        }
    }

    @Test("a receiver that lives 1024 weeks ago keeps its position and is flagged (R-23, P68)")
    func rollover() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:60,speed=20,rate=10", options: ["--since", "1145836800"])
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { $0.snapshots.count >= 5 })
            let snapshots = await bench.finish().snapshots
            #expect(snapshots.allSatisfy { $0["age_ms"] == nil && $0.clientTime > ReceiverTime.floor })
            #expect(snapshots.contains { $0["gps_time_trusted"]?.bool == false })
            #expect(!snapshots.contains { $0["gps_time_trusted"]?.bool == true })
        }
    }

    @Test("a gpsd whose receivers never said anything, and one without any (R-24, P50)", arguments: [0, 1])
    func nothing(_ receivers: Int) async throws {
        try await GPSDLab.run(receivers: receivers) { lab in
            let bench = Bench(port: lab.port, timing: .short)
            let word = receivers == 0 ? "no_device" : "receiver_silent"
            #expect(await bench.wait { $0.gaps.contains("+\(word)") })
            let result = await bench.finish()
            #expect(result.record.state == .unavailable && result.record.reason == word)
            #expect(result.gaps.contains(word) && result.snapshots.isEmpty && result.isPrompt)
        }
    }

    @Test("a pinned receiver that gpsd does not have is no device")
    func unknownReceiver() async throws {
        try await GPSDLab.run { lab in
            try lab.feed("move:60,speed=20,rate=10")
            let bench = Bench(port: lab.port, device: "/dev/not-there", timing: .short)
            #expect(await bench.wait { $0.states.contains("no_device") })
            let result = await bench.finish()
            #expect(result.snapshots.isEmpty && result.record.reason == "no_device")
        }
    }

    @Test("a receiver that is plugged in, out and in again while the test runs (R-24)")
    func plugging() async throws {
        try await GPSDLab.run(receivers: 0) { lab in
            let input = try LoopbackPort.pick()
            try lab.feed(["move:120,speed=20,rate=10"], input: input)
            let bench = Bench(port: lab.port)
            #expect(await bench.wait { $0.gaps.contains("+no_device") })
            for _ in 0..<2 {
                let before = bench.snapshots.count
                let losses = bench.gaps.count { $0 == "+no_device" }
                try await lab.plug(true, input: input)
                #expect(await bench.wait { $0.snapshots.count > before + 3 })
                try await lab.plug(false, input: input)
                #expect(await bench.wait { bench in bench.gaps.count { $0 == "+no_device" } > losses })
            }
            let result = await bench.finish()
            #expect(result.gaps.count { $0 == "no_device" } == 3 && !result.gaps.contains("gpsd_away"))
        }
    }
}
