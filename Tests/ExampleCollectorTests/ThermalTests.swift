import CollectorCore
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Testing

/// The collector in C: built by its own Makefile, and run as it would be.
@Suite(.serialized)
struct ThermalTests {
    private static let output: Result<TemporaryFolder, any Error> = Result {
        let folder = try TemporaryFolder()
        try ChildProcess.run("make", "-C", Plugin.path("Thermal"), "OUTPUT=\(folder.path)")
        return folder
    }

    private func start(_ tree: MadeUpTree?, _ more: [String: String] = [:]) throws -> ExampleRun {
        ExampleRun(try thermal(tree, more), reading: tree)
    }

    private func thermal(_ tree: MadeUpTree?, _ more: [String: String] = [:]) throws -> ProgramCollector {
        var settings = ProgramCollector.Settings()
        settings.configuration = ["interval-ms": "100"].merging(more) { $1 }
        if let tree { settings.configuration["sysfs"] = tree.path }
        return ProgramCollector(name: "thermal", library: "\(try Self.output.get().path)/thermal.so", settings: settings)
    }

    private static func zones(_ zones: (String, String)...) -> [String: String] {
        var files: [String: String] = [:]
        for (number, zone) in zones.enumerated() {
            files["class/thermal/thermal_zone\(number)/type"] = zone.0 + "\n"
            files["class/thermal/thermal_zone\(number)/temp"] = zone.1 + "\n"
        }
        return files
    }

    @Test("R-48 R-26 It declares what it records, and is asked without reading anything")
    func declares() async throws {
        let descriptor = try await thermal(nil).describe()
        #expect(descriptor.trace == "thermal_trace")
        #expect(descriptor.problem == nil)
        let temperature = try #require(descriptor.fields.first { $0.name == "temperature" })
        #expect(temperature.unit == .celsius)
        if case .by(let amount) = temperature.changes { #expect(amount == 1) } else { Issue.record("any tremble would be a change") }
        #expect(descriptor.fields.allSatisfy { $0.privacy == .otherDiagnosticData && $0.permission == nil })
    }

    @Test("R-48 Every zone is recorded in its place, and the hottest one by name")
    func zones() async throws {
        // Eleven zones: the eleventh comes behind the tenth, not behind the first.
        var files = Self.zones(("acpitz", "41500"), ("x86_pkg_temp", "63000"), ("odd\"name\\\u{FC}", "-1500"))
        files["class/thermal/thermal_zone10/type"] = "wifi\n"
        files["class/thermal/thermal_zone10/temp"] = "50001\n"
        let run = try start(try MadeUpTree(files))
        let snapshot = try await run.snapshot("temperature") { $0["temperature"] != nil }
        #expect(snapshot["temperature"] == .number(63))
        #expect(snapshot["zone"] == .text("x86_pkg_temp"))
        #expect(
            snapshot["zones"]
                == .records([
                    ["zone": .text("acpitz"), "temperature": .number(41.5)], ["zone": .text("x86_pkg_temp"), "temperature": .number(63)],
                    ["zone": .text("odd_name___"), "temperature": .number(-1.5)], ["zone": .text("wifi"), "temperature": .number(50.001)],
                ]))
        #expect(snapshot.fields.count == 3, "nothing is known but the zones")
        #expect(await run.finish().state == .ok)
    }

    @Test("R-8 R-9 A zone that vanishes is left out, and without any the trace is unavailable until one comes back")
    func vanishes() async throws {
        let tree = try MadeUpTree(Self.zones(("acpitz", "41500"), ("x86_pkg_temp", "63000")))
        let run = try start(tree)
        try await run.snapshot("both") { $0["temperature"] == .number(63) }
        try tree.remove("class/thermal/thermal_zone1")
        try await run.snapshot("one") { $0["temperature"] == .number(41.5) && $0["zone"] == .text("acpitz") }
        try tree.remove("class/thermal/thermal_zone0")
        try await run.state("unavailable no_hardware")
        let before = run.snapshots.count
        for (name, text) in Self.zones(("acpitz", "55000")) { try tree.set(name, text) }
        try await run.snapshot("the one that came", from: before) { $0["temperature"] == .number(55) }
        let record = await run.finish()
        #expect(record.state == .ok)
        #expect(record.rejected.isEmpty)
    }

    @Test("R-8 What is no number, implausible or an error is no temperature, and is counted")
    func refuses() async throws {
        var files = Self.zones(
            ("good", "200000"), ("absolute_zero", "-274000"), ("hot", "200001"), ("cold", "-50001"), ("coldest", "-50000"),
            ("text", "41500 mC"), ("float", "41.5"), ("long", "99999999999999999999"))
        // A file that cannot be read, as of a sensor that is asleep.
        files["class/thermal/thermal_zone8/temp/is-a-folder"] = ""
        files["class/thermal/thermal_zone8/type"] = "asleep\n"
        files["class/thermal/thermal_zone9/temp"] = ""
        files["class/thermal/thermal_zone9/type"] = "empty\n"
        let run = try start(try MadeUpTree(files))
        let snapshot = try await run.snapshot("temperature") { $0["temperature"] != nil }
        #expect(
            snapshot["zones"]
                == .records([
                    ["zone": .text("good"), "temperature": .number(200)], ["zone": .text("coldest"), "temperature": .number(-50)],
                ]))
        let record = await run.finish()
        let readings = try #require(record.rejected["implausible"]) / 3
        #expect(readings >= 1)
        #expect(record.rejected == ["implausible": 3 * readings, "not_a_number": 3 * readings])
    }

    @Test("R-9 Zones that all give nothing are another state than no zones")
    func noReading() async throws {
        let run = try start(try MadeUpTree(Self.zones(("dead", "-274000"))))
        try await run.state("unavailable no_reading")
        let record = await run.finish()
        #expect(record.state == .unavailable && record.reason == "no_reading" && record.recorded == 0)
    }

    @Test("R-48 A cooling device that slows a processor is throttling, and a fan is not")
    func throttled() async throws {
        let tree = try MadeUpTree([
            "class/thermal/cooling_device0/type": "Fan\n", "class/thermal/cooling_device0/cur_state": "5\n",
            "class/thermal/cooling_device1/type": "intel_powerclamp\n", "class/thermal/cooling_device1/cur_state": "-1\n",
            "class/thermal/cooling_device2/type": "cpufreq-cpu0\n", "class/thermal/cooling_device2/cur_state": "0\n",
        ])
        let run = try start(tree)
        let first = try await run.snapshot("anything")
        #expect(first["is_throttled"] == .bool(false))
        #expect(first.fields.count == 1, "the temperature is not known, and throttling is")
        try tree.set("class/thermal/cooling_device2/cur_state", "2\n")
        try await run.snapshot("throttling") { $0["is_throttled"] == .bool(true) }
        try tree.remove("class/thermal/cooling_device2")
        try await run.snapshot("its end", from: 2) { $0["is_throttled"] == .bool(false) }
        #expect(await run.finish().state == .ok)
    }

    @Test("R-8 Throttling counters count from the test's start, and a package's event counts once")
    func counters() async throws {
        let tree = try MadeUpTree()
        func set(core: Int, package: Int, time: Int, of processor: Int) throws {
            let folder = "devices/system/cpu/cpu\(processor)/thermal_throttle"
            try tree.set("\(folder)/core_throttle_count", "\(core)\n")
            try tree.set("\(folder)/package_throttle_count", "\(package)\n")
            try tree.set("\(folder)/core_throttle_total_time_ms", "\(time)\n")
        }
        for processor in 0..<4 { try set(core: 7, package: 100, time: 5000, of: processor) }
        // Not a processor.
        try tree.set("devices/system/cpu/cpuidle/thermal_throttle/core_throttle_count", "9\n")
        let run = try start(tree)
        let first = try await run.snapshot("counters")
        #expect(first["throttle_count"] == .integer(0))
        #expect(first["throttled_time"] == .integer(0))
        for processor in 0..<4 { try set(core: 9, package: 103, time: 6500, of: processor) }
        try await run.snapshot("three") { $0["throttle_count"] == .integer(3) && $0["throttled_time"] == .integer(1500) }
        await run.finish()
    }

    @Test("R-48 Frequencies are those of the fastest, and the limit that of the most limited processor")
    func frequency() async throws {
        func policy(_ number: Int, _ now: String, _ allowed: String, _ possible: String) -> [String: String] {
            let folder = "devices/system/cpu/cpufreq/policy\(number)"
            return ["\(folder)/scaling_cur_freq": now, "\(folder)/scaling_max_freq": allowed, "\(folder)/cpuinfo_max_freq": possible]
        }
        var files = policy(0, "600000", "1800000", "1800000")
        files.merge(policy(4, "1416123", "1500000", "2000000")) { $1 }
        files.merge(policy(6, "<unknown>", "0", "2400000")) { $1 }
        let run = try start(try MadeUpTree(files))
        let snapshot = try await run.snapshot("a frequency")
        #expect(snapshot["cpu_frequency"] == .number(1416.123))
        #expect(snapshot["cpu_frequency_limit"] == .number(75))
        await run.finish()
    }

    @Test("R-48 The Raspberry Pi's firmware is asked only where it shall be, and where its answer is fresh")
    func raspberryPi() async throws {
        let flags = "devices/platform/soc/soc:firmware/get_throttled"
        let tree = try MadeUpTree([
            flags: "50005\n", "class/hwmon/hwmon0/name": "cpu_thermal\n", "class/hwmon/hwmon2/name": "rpi_volt\n",
            "class/hwmon/hwmon2/in0_lcrit_alarm": "0\n",
        ])
        var run = try start(tree)
        let plain = try await run.snapshot("the alarm")
        #expect(plain["is_under_voltage"] == .bool(false) && plain["is_throttled"] == nil)
        await run.finish()

        run = try start(tree, ["firmware-flags": "yes"])
        let asked = try await run.snapshot("the flags")
        #expect(asked["is_under_voltage"] == .bool(true) && asked["is_throttled"] == .bool(true))
        // What has been is not what is.
        try tree.set(flags, "50000\n")
        try await run.snapshot("their end") { $0["is_under_voltage"] == .bool(false) && $0["is_throttled"] == .bool(false) }
        await run.finish()

        try tree.remove("class/hwmon/hwmon2")
        run = try start(tree, ["firmware-flags": "yes"])
        try await run.state("unavailable no_hardware")
        await run.finish()
    }

    @Test(
        "R-48 A configuration that cannot be meant is a failure that says what to write",
        arguments: [
            (["interval-ms": "0"], "'interval-ms' needs a whole number from 100 to 3600000"),
            (["interval-ms": "1s"], "'interval-ms' needs a whole number from 100 to 3600000"),
            (["firmware-flags": "on"], "'firmware-flags' needs 'yes' or 'no'"),
            (["sysfs": "/no/such/folder"], "'sysfs' has to name a folder such as /sys"),
        ])
    func configuration(_ keys: [String: String], _ detail: String) async throws {
        let run = try start(nil, keys)
        let record = await run.finish()
        #expect(record.state == .failed && record.reason == "bad_configuration" && record.detail == detail)
    }

    @Test("R-48 R-9 On this machine it records plausible temperatures, or says that there is none")
    func thisMachine() async throws {
        let run = try start(nil)
        let limit = ContinuousClock.now + .seconds(1)
        while run.snapshots.isEmpty, ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        let record = await run.finish()
        switch record.state {
        case .ok:
            for snapshot in run.snapshots {
                if let temperature = snapshot["temperature"]?.double { #expect((-50...200).contains(temperature)) }
            }
        case .unavailable: #expect(record.reason == "no_hardware" || record.reason == "no_reading")
        default: Issue.record("\(record)")
        }
    }
}
