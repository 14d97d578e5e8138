import Glibc
import LabSupport
import MeasurementModel
import QualityTests
import Testing

/// R-48, R-49: collectors that are files, found or named, by the real program.
@Suite(.serialized)
struct InstalledCollectorTests {
    private let folder: TemporaryFolder
    private var programs: String { "\(folder.path)/collectors" }
    private var configurations: String { "\(folder.path)/collectors.d" }

    init() throws {
        folder = try TemporaryFolder()
        try ChildProcess.run("mkdir", "\(folder.path)/collectors", "\(folder.path)/collectors.d")
    }

    private func settings(_ more: String...) -> [String] {
        var words: [String] = []
        for setting in ["collectors-directory=\(programs)", "collectors-configuration=\(configurations)"] {
            words += ["--set", "fieldprobe.\(setting)"]
        }
        for setting in more { words += ["--set", setting] }
        return words
    }

    private func fieldprobe(_ arguments: String...) async throws -> Program.Outcome { try await fieldprobe(arguments) }

    private func fieldprobe(_ arguments: [String]) async throws -> Program.Outcome {
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        let words = arguments[..<end] + settings() + arguments[end...]
        return try await Program.shell("exec \"$0\" " + words.map { "'\($0)'" }.joined(separator: " ") + " < /dev/null")
    }

    private func install(_ lab: String, as name: String) throws {
        try ChildProcess.run("cp", Lab.path("collectors/\(lab)"), "\(programs)/\(name)")
        try ChildProcess.run("chmod", "0755", "\(programs)/\(name)")
    }

    private func library(_ name: String) throws {
        try ChildProcess.run(
            "cc", "-shared", "-fPIC", "-I", Lab.path("../../Sources/CCollectorABI/include"), "-o", "\(programs)/\(name).so",
            Lab.path("collectors/replay.c"))
    }

    /// What `collectors list` says of one.
    private func entry(_ name: String) async throws -> JSONValue {
        let list = try await fieldprobe("collectors", "list", "--json")
        return try #require(list.json?.array?.first { $0["name"]?.string == name })
    }

    /// A command that lasts until `misbehave` has spoken and written its sign, and until it is gone if it ends then.
    private func until(_ sign: String, isGone: Bool = false) -> [String] {
        let end = isGone ? "; while [ -e /proc/$(cat \(sign)) ]; do sleep 0.05; done" : ""
        return ["sh", "-c", "until [ -e \(sign) ]; do sleep 0.05; done" + end]
    }

    /// Watches until a text has been told on either stream, for a minute at most.
    private func watched(until text: String, _ arguments: String...) async throws -> Program.Outcome {
        let words = (["watch"] + arguments + settings()).map { "'\($0)'" }.joined(separator: " ")
        let told = "'\(folder.path)/out' '\(folder.path)/err'"
        return try await Program.shell(
            """
            rm -f \(told)
            "$0" \(words) < /dev/null > '\(folder.path)/out' 2> '\(folder.path)/err' &
            tenths=0
            until grep -qsF -- '\(text.replacing("'", with: "'\\''"))' \(told) || [ $tenths -ge 600 ]; do
                sleep 0.1
                tenths=$((tenths + 1))
            done
            # What comes with it.
            sleep 0.5
            kill -TERM $!
            wait $!
            cat '\(folder.path)/out'
            cat '\(folder.path)/err' >&2
            """)
    }

    @Test("R-48 A program and a library in the folder of collectors are listed, described, declared to the people, and run")
    func installed() async throws {
        try install("misbehave", as: "misbehave")
        try library("replay")
        try folder.write("collectors/README", "Not a collector.")
        let list = try await fieldprobe("collectors", "list")
        #expect(list.status == 0)
        #expect(list.output.contains("misbehave"))
        let replay = try await entry("replay")
        #expect(replay["trace"]?.string == "replay_trace")
        #expect(replay["source"]?.string == "\(programs)/replay.so")
        #expect(replay["enabled"]?.bool == true && replay["problem"] == nil)
        let names = try await fieldprobe("collectors", "list", "--json").json?.array?.compactMap { $0["name"]?.string }
        #expect(names?.suffix(2) == ["misbehave", "replay"])

        let description = try await fieldprobe("collectors", "describe", "replay")
        #expect(description.output.contains("replay 1.0: The same in every language"))
        let manifest = try #require(try await fieldprobe("privacy", "--json").json)
        let declared = manifest["collectors"]?.array?.first { $0["name"]?.string == "misbehave" }
        #expect(declared?["fields"]?.array?.compactMap { $0["name"]?.string } == ["value", "level", "place"])

        let sign = "\(folder.path)/sign"
        try folder.write("collectors.d/misbehave.conf", "[collector]\narguments = good \(sign)\n")
        let report = try #require(
            try await fieldprobe(
                [
                    "run", "--unregistered", "--json", "--quiet", "--set", "collector.connection-detail.enabled=no", "--set",
                    "collector.geolocation.enabled=no", "--",
                ] + until(sign)
            ).json)
        #expect(report["misbehave_trace"]?[0]?["value"]?.int64 == 1)
        #expect(report["replay_trace"]?.array?.last?["value"]?.int64 == 99)
        #expect(report["collectors"]?.array?.map { $0["state"]?.string } == ["ok", "ok"])
    }

    @Test("R-48 The configuration of a collector is handed to it, and says how it is run")
    func configured() async throws {
        let sign = "\(folder.path)/sign"
        try folder.write(
            "collectors.d/misbehave.conf",
            """
            [collector]
            program = \(Lab.path("collectors/misbehave"))
            arguments = facts \(sign)
            memory-limit = 111
            [configuration]
            zone = cpu 0
            """)
        // A folder of somebody's own is not what root vouches for: where the sources lie is not the test's to know.
        let isTrusted = try await entry("misbehave")["problem"] == nil
        guard isTrusted else {
            #expect(try await entry("misbehave")["problem"]?.string?.contains("root") == true)
            return
        }
        let report = try #require(
            try await fieldprobe(["run", "--unregistered", "--json", "--quiet", "--"] + until(sign)).json)
        let record = report["collectors"]?.array?.first { $0["name"]?.string == "misbehave" }
        #expect(record?["provenance"]?["memory.0"]?.string == "\(111 << 20)")
        #expect(record?["provenance"]?["start.0"]?.string?.contains("cpu 0") == true)
    }

    @Test("R-48 A misspelt key is refused before the collector starts, and every place says so")
    func misspelt() async throws {
        try ChildProcess.run("install", Lab.path("../../Plugins/SystemLoad/systemload"), "\(programs)/systemload")
        let json = try await fieldprobe("collectors", "describe", "--json", "systemload").json
        #expect(json?["configuration"]?.array?.compactMap { $0["name"]?.string } == ["interval-ms", "proc"])

        try folder.write("collectors.d/systemload.conf", "[configuration]\nintervall-ms = 500\n")
        let problem = "there is no key 'intervall-ms' in its [configuration]: there are interval-ms, proc"
        #expect(try await entry("systemload")["problem"]?.string == problem)
        #expect(try await fieldprobe("doctor").output.contains("the collector systemload: \(problem)"))
        let described = try await fieldprobe("collectors", "describe", "systemload")
        #expect(described.output.contains("interval-ms  Milliseconds between two readings"))
        let check = try await fieldprobe("collectors", "check", "systemload")
        #expect(check.status == 121 && check.errors.contains("systemload: \(problem)"), "\(check.errors)")
        let run = try await fieldprobe("run", "--unregistered", "--json", "--quiet", "--", "sleep", "3")
        #expect(run.status == 0)
        let record = run.json?["collectors"]?.array?.first { $0["name"]?.string == "systemload" }
        #expect(record?["state"]?.string == "failed" && record?["reason"]?.string == "bad_configuration")
        #expect(record?["recorded"]?.int64 == 0 && !run.output.contains("intervall"))

        try folder.write("collectors.d/systemload.conf", "[configuration]\ninterval-ms = 500\n")
        #expect(try await entry("systemload")["problem"] == nil)
    }

    @Test("R-49 What is not root's alone is not run, and every place says why")
    func refused() async throws {
        try install("misbehave", as: "misbehave")
        let path = "\(programs)/misbehave"
        func problem() async throws -> String? { try await entry("misbehave")["problem"]?.string }
        #expect(try await problem() == nil)
        chmod(path, 0o775)
        #expect(try await problem() == "\(path) can be written by others than root: chmod go-w \(path)")
        chmod(path, 0o755)
        chmod(programs, 0o777)
        #expect(try await problem() == "\(programs) can be written by others than root: chmod go-w \(programs)")
        chmod(programs, 0o755)
        if geteuid() == 0, chown(path, 65534, 65534) == 0 {
            #expect(try await problem() == "\(path) belongs to nobody, and not to root: chown root:root \(path)")
            chown(path, 0, 0)
        }
        // A link is as good as every folder on its way.
        try ChildProcess.run("mkdir", "-m", "0777", "\(folder.path)/open")
        try ChildProcess.run("mv", path, "\(folder.path)/open/real")
        symlink("../open/real", path)
        #expect(try await problem() == "\(folder.path)/open can be written by others than root: chmod go-w \(folder.path)/open")
        chmod("\(folder.path)/open", 0o755)
        #expect(try await problem() == nil)
        chmod("\(folder.path)/open/real", 0o757)

        let run = try await fieldprobe("run", "--unregistered", "--", "true")
        #expect(run.status == 0)
        let refusal =
            "misbehave: failed, it must not run: its file, or something on the way to it, is not root's alone: 'fieldprobe collectors list'"
        #expect(run.errors.contains(refusal), "\(run.errors)")
        let doctor = try await fieldprobe("doctor")
        #expect(doctor.output.contains("misbehave: \(folder.path)/open/real can be written by others than root"))
        let description = try await fieldprobe("collectors", "describe", "misbehave")
        #expect(description.status == 125)
        #expect(description.errors.contains("can be written by others than root"))
        // Named by its name it is still a file that anybody could have changed.
        let check = try await fieldprobe("collectors", "check", "misbehave")
        #expect(check.status == 1)
        #expect(check.output.contains("problem: \(folder.path)/open/real can be written by others than root"), "\(check.output)")
        let privacy = try await fieldprobe("privacy")
        #expect(privacy.output.contains("misbehave: records nothing, "))
    }

    @Test("R-49 A name that is none, is taken or is there twice, and a configuration that is wrong, are refused with the reason")
    func names() async throws {
        try install("misbehave", as: "Thermal.py")
        try install("misbehave", as: "geolocation")
        try install("misbehave", as: "replay")
        try library("replay")
        try folder.write("collectors/forgotten", "#!/bin/sh\n")
        try ChildProcess.run("mkdir", "\(programs)/folder")
        try install("misbehave", as: "x\u{1B}[31mred")
        try install("misbehave", as: "misbehave")
        try folder.write("collectors.d/misbehave.conf", "[collector]\narguments = borrowed-trace\n")
        try folder.write("collectors.d/off.conf", "[collector]\nenabled = no\nmemory-limit = 5\n")
        try folder.write("collectors.d/orphan.conf", "[collector]\nenabled = yes\n")
        try folder.write("collectors.d/wrong.conf", "[collector]\nprogramme = /bin/true\n")
        try folder.write("collectors.d/limit.conf", "[collector]\nmemory-limit = lots\n")
        try folder.write("collectors.d/section.conf", "[other]\nx = y\n")
        try folder.write("collectors.d/missing.conf", "[collector]\nprogram = /no/such/program\n")
        let list = try #require(
            try await fieldprobe("collectors", "list", "--json", "--set", "collector.geolocation.enabled=no").json?.array)
        #expect(!list.contains { $0["name"]?.string == "folder" })
        #expect(list.contains { $0["name"]?.string == "x??31mred" })
        #expect(list.first { $0["name"]?.string == "off" }?["enabled"]?.bool == false)
        func problems(_ name: String) -> [String] { list.filter { $0["name"]?.string == name }.compactMap { $0["problem"]?.string } }
        #expect(
            problems("Thermal.py") == ["a collector's file has its name: lower-case words joined with hyphens, and '.so' for a library"])
        #expect(problems("geolocation") == ["the name 'geolocation' belongs to another collector"])
        // Also while the built-in one is turned off: its key means the same in every report.
        #expect(problems("misbehave") == ["the trace 'geolocation_trace' belongs to a built-in collector: declare another key"])
        let replays = problems("replay")
        #expect(replays.count == 2)
        #expect(replays.contains("the name 'replay' belongs to another collector"))
        #expect(replays.contains("it calls itself 'misbehave' and is installed as 'replay': give it that name"))
        #expect(problems("forgotten") == ["\(programs)/forgotten is not executable: chmod +x \(programs)/forgotten"])
        #expect(problems("orphan").first?.hasPrefix("[collector] needs 'program' or 'library'") == true)
        #expect(
            problems("wrong").first?.hasPrefix("\(configurations)/wrong.conf:2: there is no key 'programme' in [collector]: there are")
                == true)
        #expect(
            problems("limit") == [
                "\(configurations)/limit.conf:2: 'memory-limit' needs a whole number from 1 to 1048576, and 'lots' is none"
            ])
        #expect(problems("section").first?.contains("there is no section [other]") == true)
        #expect(problems("missing").first?.contains("/no") == true)
    }

    @Test("R-48 A collector that is turned off is not run, not even to be listed, unless it is named")
    func disabled() async throws {
        try install("misbehave", as: "misbehave")
        try folder.write("collectors.d/misbehave.conf", "[collector]\nenabled = no\narguments = exits-early\n")
        let entry = try await entry("misbehave")
        #expect(entry["enabled"]?.bool == false && entry["problem"] == nil && entry["trace"] == nil)
        let run = try await fieldprobe("run", "--unregistered", "--json", "--quiet", "--", "true")
        #expect(run.json?["collectors"]?.array?.contains { $0["name"]?.string == "misbehave" } == false)
        let description = try await fieldprobe("collectors", "describe", "misbehave")
        #expect(description.errors.contains("it ended with exit status 3"))
    }

    @Test("R-48 A collector that is not installed is run by its path; what cannot be one is told before anything starts")
    func named() async throws {
        let misbehave = Lab.path("collectors/misbehave")
        let sign = "\(folder.path)/sign"
        try folder.write("signs", "#!/bin/sh\nexec \(misbehave) good \(sign)\n")
        chmod("\(folder.path)/signs", 0o755)
        let words = ["run", "--unregistered", "--json", "--quiet", "--with", "\(folder.path)/signs", "--"]
        let report = try #require(try await fieldprobe(words + until(sign)).json)
        #expect(report["misbehave_trace"]?[0]?["value"]?.int64 == 1)
        let watch = try await watched(until: "misbehave_trace", "--json", "--with", misbehave)
        #expect(watch.output.contains("{\"trace\":\"misbehave_trace\",\"snapshot\":"))

        try folder.write("plain", "#!/bin/sh\n")
        try folder.write("source.c", "int main(void) { return 0; }\n")
        for (path, words) in [
            ("thermal", "'--with thermal' needs a path, such as ./thermal"), ("/no/such", "/no/such cannot be run: No such file"),
            (folder.path, "\(folder.path) is a folder: name the program or the library in it"),
            ("\(folder.path)/plain", "\(folder.path)/plain is not executable: chmod +x \(folder.path)/plain"),
            ("\(folder.path)/source.c", "source.c is a source text: build it"),
        ] {
            let outcome = try await fieldprobe("run", "--unregistered", "--with", path, "--", "touch", "\(folder.path)/ran")
            #expect(outcome.status == 120)
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
        #expect(TemporaryFolder.read("\(folder.path)/ran") == nil)
    }

    @Test("R-49 What a collector does wrong is told to its author while it is watched, and in the report")
    func author() async throws {
        for (mode, sign, words) in [
            ("not-json", "(second_descriptor)", "a line is refused (not_json): not JSON at octet 38: a value cannot start with 'N'"),
            ("not-json", "(second_descriptor)", "collector misbehave: refused: bad_gap (1), "),
            ("complains", "misbehave: says", "misbehave: says on standard error: complaint complaint"),
            ("exits", "misbehave_trace  is failed", "collector misbehave: failed, it ended with exit status 3 while the test ran"),
            (
                "silent", "connection_detail_trace",
                "collector misbehave: the test was over before the collector had said what it records; does it flush its first line?"
            ),
        ] {
            try folder.write("misbehave", "#!/bin/sh\nexec \(Lab.path("collectors/misbehave")) \(mode)\n")
            chmod("\(folder.path)/misbehave", 0o755)
            let watch = try await watched(until: sign, "--with", "\(folder.path)/misbehave")
            #expect(watch.errors.contains(words), "\(mode): \(watch.errors)")
            // Not the whole of what it complains.
            #expect(watch.errors.utf8.count < 40_000)
        }
        try install("misbehave", as: "misbehave")
        let sign = "\(folder.path)/sign"
        try folder.write("collectors.d/misbehave.conf", "[collector]\narguments = exits \(sign)\n")
        let run = try await fieldprobe(["run", "--unregistered", "--"] + until(sign, isGone: true))
        #expect(run.errors.contains("\n  misbehave 1.0: failed, its program ended: it ended with exit status 3 while the test ran\n"))
    }

    @Test("R-27 Of two collectors with one trace the second one is told to choose another key, everywhere")
    func twins() async throws {
        try install("misbehave", as: "misbehave")
        try folder.write(
            "collectors/other",
            """
            #!/bin/sh
            sed -u 's/"name": "misbehave"/"name": "other"/' << END
            $(\(Lab.path("collectors/misbehave")) < /dev/null)
            END
            read -r line
            """)
        chmod("\(programs)/other", 0o755)
        let problem = "the trace 'misbehave_trace' is recorded by 'misbehave' already: declare another key"
        #expect(try await entry("misbehave")["problem"] == nil)
        #expect(try await entry("other")["problem"]?.string == problem)
        let doctor = try await fieldprobe("doctor")
        #expect(doctor.output.contains("the collector other: \(problem)"))
        #expect(doctor.output.contains("the collector misbehave says what it records"))
    }

    @Test("R-50 'check' takes a name or a file, ends with the verdict, and knows what the name will meet once it is installed")
    func check() async throws {
        try ChildProcess.run("cp", Lab.path("collectors/unfit"), "\(folder.path)/other-name")
        let good = try await fieldprobe("collectors", "check", "--runs", "2", "--observation", "300ms", "\(folder.path)/other-name")
        #expect(good.status == 0, "\(good.output)")
        #expect(good.output.contains("the file is 'other-name', and the collector calls itself 'unfit'"))
        #expect(good.output.contains("unfit conforms: "))
        try ChildProcess.run("cp", Lab.path("collectors/unfit"), "\(programs)/unfit")
        try folder.write("collectors.d/unfit.conf", "[collector]\narguments = only_asked\n")
        let bad = try await fieldprobe("collectors", "check", "--json", "--runs", "2", "--observation", "300ms", "unfit")
        #expect(bad.status == 1)
        #expect(bad.json?["conforming"]?.bool == false)
        let failed = bad.json?["checks"]?.array?.filter { $0["outcome"]?.string == "failed" }.map { $0["name"]?.string }
        #expect(failed?.contains("only_asked") == true)
        let unknown = try await fieldprobe("collectors", "check", "nothing")
        let help = try await fieldprobe("collectors", "check", "--help")
        #expect(help.output.contains("conforms and with 1 if it does not"))
        #expect(unknown.status == 120 && unknown.errors.contains("a file is named by a path, such as ./nothing"))
        let builtIn = try await fieldprobe("collectors", "check", "--runs", "2", "--observation", "300ms", "geolocation")
        #expect(builtIn.output.contains("geolocation conforms: "), "\(builtIn.output)")
    }

    @Test("R-3 R-49 kill -9 of the program ends the collectors that it started")
    func killed() async throws {
        let mark = "heedless mark-\(UInt32.random(in: 1...UInt32.max))"
        try install("misbehave", as: "misbehave")
        try folder.write("collectors.d/misbehave.conf", "[collector]\narguments = \(mark)\n")
        let child = try ChildProcess([Program.path, "watch", "--json"] + settings("collector.connection-detail.enabled=no"))
        while let line = child.readLine(), !line.contains("misbehave_trace") {}
        #expect(!ProcessTable.processes(with: "misbehave \(mark)").isEmpty)
        child.signal(SIGKILL)
        child.wait()
        for _ in 0..<2000 where !ProcessTable.processes(with: "misbehave \(mark)").isEmpty { usleep(5000) }
        #expect(ProcessTable.processes(with: "misbehave \(mark)") == [])
    }
}
