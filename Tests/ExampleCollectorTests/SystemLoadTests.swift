import CollectorCore
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Testing

/// The collector in Python.
@Suite(.serialized)
struct SystemLoadTests {
    private func start(_ tree: MadeUpTree?, _ more: [String: String] = [:]) -> ExampleRun {
        ExampleRun(systemload(tree, more), reading: tree)
    }

    private func systemload(_ tree: MadeUpTree?, _ more: [String: String] = [:]) -> ProgramCollector {
        var settings = ProgramCollector.Settings()
        settings.configuration = ["interval-ms": "100"].merging(more) { $1 }
        if let tree { settings.configuration["proc"] = tree.path }
        return ProgramCollector(name: "systemload", program: Plugin.path("SystemLoad/systemload"), settings: settings)
    }

    /// As a kernel of 2026 writes them.
    private static let files = [
        "stat": """
        cpu  1000 0 500 8000 100 0 0 0 300 0
        cpu0 500 0 250 4000 50 0 0 0 150 0
        cpu1 500 0 250 4000 50 0 0 0 150 0
        intr 12345 0 0

        """,
        "loadavg": "0.52 0.58 0.59 1/467 12345\n",
        "meminfo":
            "MemTotal:        1000000 kB\nMemFree:          100000 kB\nMemAvailable:     250000 kB\nBuffers:    1 kB\nCached: 2 kB\n",
        "pressure/cpu": "some avg10=1.53 avg60=0.87 avg300=0.42 total=123\nfull avg10=9.00 avg60=0.00 avg300=0.00 total=0\n",
        "pressure/memory": "some avg10=0.25 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "pressure/io": "some avg10=12.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    ]

    @Test("R-48 R-26 It declares what it records, and is asked without reading anything")
    func declares() async throws {
        let descriptor = try await systemload(nil).describe()
        #expect(descriptor.trace == "systemload_trace")
        #expect(descriptor.problem == nil)
        #expect(descriptor.fields.allSatisfy { $0.privacy == .performanceData && $0.permission == nil && !$0.about.isEmpty })
    }

    @Test("R-8 Shares are told once there are two readings to compare, and each is what proc(5) makes of them")
    func figures() async throws {
        let tree = try MadeUpTree(Self.files)
        let run = start(tree)
        let first = try await run.snapshot("figures")
        #expect(first["cpu_use"] == nil && first["busiest_cpu_use"] == nil && first["cpu_steal"] == nil)
        #expect(first["load"] == .number(0.52))
        #expect(first["memory_available"] == .number(25))
        #expect(first["memory_available_size"] == .integer(256_000_000))
        #expect(first["cpu_pressure"] == .number(1.53))
        #expect(first["memory_pressure"] == .number(0.25))
        #expect(first["io_pressure"] == .number(12))
        // Of 200 ticks: 80 of user, 20 of system, 10 stolen, 70 idle, 20 waiting for the disk. The guest's 30 are in user already.
        try tree.set(
            "stat",
            """
            cpu  1080 0 520 8070 120 0 0 10 330 0
            cpu0 570 0 270 4000 50 0 0 10 180 0
            cpu1 510 0 250 4070 70 0 0 0 150 0

            """)
        let second = try await run.snapshot("shares") { $0["cpu_use"] != nil }
        #expect(second["cpu_use"] == .number(55))
        #expect(second["cpu_steal"] == .number(5))
        #expect(second["busiest_cpu_use"] == .number(100))
        #expect(await run.finish().state == .ok)
    }

    @Test("R-8 Counters that run backwards, and processors that come and go, give no share")
    func backwards() async throws {
        let tree = try MadeUpTree([
            "stat": "cpu  1000 0 0 1000 50 0 0 0 0 0\ncpu0 1000 0 0 1000 50 0 0 0 0 0\n", "loadavg": "1.00 0 0 1/1 1\n",
        ])
        let run = start(tree)
        try await run.snapshot("load") { $0["load"] == .number(1) }
        try tree.set("stat", "cpu  1010 0 0 1010 49 0 0 0 0 0\ncpu1 10 0 0 10 0 0 0 0 0 0\n")
        try tree.set("loadavg", "2.00 0 0 1/1 1\n")
        try await run.snapshot("the next load") { $0["load"] == .number(2) }
        try tree.set("loadavg", "3.00 0 0 1/1 1\n")
        try await run.snapshot("the last load") { $0["load"] == .number(3) }
        await run.finish()
        #expect(run.snapshots.allSatisfy { $0["cpu_use"] == nil && $0["busiest_cpu_use"] == nil })
    }

    @Test("R-8 R-9 A kernel without pressure information leaves it out; without anything the trace is unavailable")
    func missing() async throws {
        var files = Self.files
        for name in ["cpu", "memory", "io"] { files["pressure/\(name)"] = nil }
        // A kernel before 3.14.
        files["meminfo"] = "MemTotal:        1000000 kB\nMemFree:          100000 kB\n"
        let run = start(try MadeUpTree(files))
        let snapshot = try await run.snapshot("load")
        #expect(snapshot.fields.map(\.name) == ["load"])
        await run.finish()

        let empty = start(try MadeUpTree())
        try await empty.state("unavailable no_proc")
        #expect(await empty.finish().recorded == 0)
    }

    @Test("R-8 A file that is not as documented costs its own values, and is counted")
    func garbage() async throws {
        var files = Self.files
        files["stat"] = "cpu  ten twenty\n"
        files["loadavg"] = "high\n"
        files["pressure/io"] = "some avg10=\n"
        let run = start(try MadeUpTree(files))
        let snapshot = try await run.snapshot("memory")
        #expect(snapshot["memory_available"] == .number(25))
        #expect(snapshot["load"] == nil && snapshot["cpu_use"] == nil && snapshot["io_pressure"] == nil)
        let record = await run.finish()
        #expect(record.state == .ok)
        #expect(try #require(record.rejected["not_as_documented"]) % 3 == 0)
    }

    @Test("R-48 A configuration that cannot be meant is a failure that says what to write", arguments: ["", "0", "1.5", "²", "99999999"])
    func configuration(_ interval: String) async throws {
        let run = start(nil, ["interval-ms": interval])
        #expect(await run.finish().detail == "'interval-ms' needs a whole number from 100 to 3600000")
    }

    @Test("R-48 On this machine a program that computes fills a processor, and the collector sees it")
    func burner() async throws {
        let burner = try ChildProcess(["sh", "-c", "while :; do :; done"])
        defer {
            burner.signal(SIGKILL)
            burner.wait()
        }
        let run = start(nil, ["interval-ms": "500"])
        let snapshot = try await run.snapshot("a full processor") { $0["busiest_cpu_use"]?.double ?? 0 >= 90 }
        let use = try #require(snapshot["cpu_use"]?.double)
        #expect(use > 0 && use <= 100)
        let available = try #require(snapshot["memory_available"]?.double)
        #expect(available > 0 && available <= 100)
        #expect(await run.finish().state == .ok)
    }
}
