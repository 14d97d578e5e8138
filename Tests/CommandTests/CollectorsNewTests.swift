import CollectorCore
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import fieldprobe

/// R-48: an author begins with a collector that works, in each language.
@Suite(.serialized)
struct CollectorsNewTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

    /// Has the program write one, and gives its folder.
    private func make(_ language: String, named name: String, in parent: TemporaryFolder, _ more: [String] = []) async throws -> String {
        let words = ["collectors", "new", name, "--language", language, "--directory", parent.path] + more
        let outcome = try await Program.shell("exec \"$0\" " + words.map { "'\($0)'" }.joined(separator: " "))
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("Written:\n  \(parent.path)/\(name)/"))
        #expect(outcome.output.contains("\nNext:\n  cd \(parent.path)/\(name)\n"))
        return "\(parent.path)/\(name)"
    }

    private var checker: String { "FIELDPROBE=\(Program.path)" }

    /// What a program prints, which may take its time.
    @discardableResult
    private func output(_ words: String...) async throws -> String { try await offPool { try ChildProcess.run(words) } }

    /// Runs the collector as fieldprobe would.
    private func expectRecords(_ collector: ProgramCollector, trace: String) async throws {
        var settings = CollectorHost.Settings()
        settings.stopDeadline = .seconds(30)
        let run = CollectorHost(collectors: [collector], settings: settings).start(kind: TestKind(type: "NETWORK", subject: "ping"))
        let outcome = await run.finish()
        #expect(outcome.records[0].state == .ok, "\(outcome.records[0])")
        #expect(outcome.records[0].rejected.isEmpty)
        #expect(outcome.traces[0].key == trace)
        let load = try #require(outcome.traces[0].snapshots.first?["load"]?.double)
        #expect(load >= 0)
    }

    @Test("R-48 A program in Python or for the shell is written, passes its own test, and records", arguments: ["python", "sh"])
    func program(_ language: String) async throws {
        let parent = try TemporaryFolder()
        let folder = try await make(language, named: "fan-speed", in: parent)
        try await expectRecords(ProgramCollector(name: "fan-speed", program: "\(folder)/fan-speed"), trace: "fan_speed_trace")
        try await output("env", checker, "\(folder)/test")
    }

    @Test("R-48 The shell's collector runs in the small shell too, hears of its configuration, and leaves nothing behind")
    func shell() async throws {
        let parent = try TemporaryFolder()
        let folder = try await make("sh", named: "load-average", in: parent)
        let said = try await output(
            "sh", "-c",
            """
            { printf '%s\\n' '{"message":"hello","protocol":1}' \
                '{"message":"start","configuration":{"interval-ms":"900000"},"permissions":{}}'; } | dash \(folder)/load-average
            """)
        let lines = try said.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(lines.map { $0["message"]?.string } == ["descriptor", "record"], "and ended with its input, not after 900 s")
        #expect(try await output("sh", "-c", "printf '' | dash \(folder)/load-average").split(separator: "\n").count == 1)
    }

    @Test("R-48 A library in C is written, built without a warning, passes its own test, and records")
    func library() async throws {
        let parent = try TemporaryFolder()
        let folder = try await make("c", named: "fan-speed", in: parent)
        try await output("make", "-C", folder, "test", checker)
        try await expectRecords(ProgramCollector(name: "fan-speed", library: "\(folder)/fan-speed.so"), trace: "fan_speed_trace")
    }

    @Test("R-48 The header that goes along is the one that the host is built against")
    func header() throws {
        let path = "\(Self.root)/Sources/CCollectorABI/include/fieldprobe_collector.h"
        #expect(CollectorHeader.text == TemporaryFolder.read(path), "copy it into Sources/fieldprobe/Skeletons/CollectorHeader.swift")
    }

    @Test("R-48 R-50 A package in Swift is written, builds against this package, and passes the conformance kit")
    func package() async throws {
        let parent = try TemporaryFolder()
        let folder = try await make("swift", named: "fan-speed", in: parent, ["--package", Self.root])
        // The scratch folder stays, so that only the first run builds everything.
        let place = ["--package-path", folder, "--scratch-path", "\(Self.root)/.build/labs/skeleton"]
        let said = try await offPool { try ChildProcess.run(["swift", "test", "--disable-xctest"] + place) }
        #expect(said.contains("Test run with 2 tests"))
    }

    @Test("A Swift package says where it looks for FieldProbe")
    func dependency() {
        var skeleton = Skeleton(name: "fan-speed", language: .swift)
        #expect(skeleton.filled("@DEPENDENCY@ @IDENTITY@") == ".package(path: \"../FieldProbe\") FieldProbe")
        skeleton.package = "https://git.example/team/probe.git"
        #expect(
            skeleton.filled("@DEPENDENCY@ @IDENTITY@") == ".package(url: \"https://git.example/team/probe.git\", branch: \"main\") probe")
        for language in Skeleton.Language.allCases {
            let files = Skeleton(name: "fan-speed", language: language).files
            let left = files.map { skeleton.filled($0.path + $0.text) }.joined()
            #expect(!left.contains("@NAME@") && !left.contains("@TYPE@") && !left.contains("@TRACE@"))
        }
    }

    @Test("What exists is left alone, and a failure says what to do")
    func refusals() async throws {
        let parent = try TemporaryFolder()
        try parent.write("taken", "mine")
        let cases: [(String, Int32, String)] = [
            ("taken --language sh", 120, "taken exists already, and is left as it is: choose another name or '--directory'"),
            ("x --language sh --directory missing", 120, "missing/x cannot be made: the folder that it would be in does not exist"),
            ("x", 120, "'--language' is missing: one of swift, c, python, sh"),
            ("x --language rust", 120, "'--language' needs one of swift, c, python, sh, and 'rust' is none"),
            ("x --language c --package y", 120, "'--package' is for Swift collectors only"),
            ("--language c", 120, "NAME is missing"),
            ("Fan --language c", 120, "'Fan' is not lower-case words joined with hyphens, such as 'fan-speed'"),
            ("fan_speed --language c", 120, "'fan_speed' is not lower-case words"),
            ("fan- --language c", 120, "'fan-' is not lower-case words"),
            ("../fan --language c", 120, "'../fan' is not lower-case words"), ("4g --language c", 120, "'4g' is not lower-case words"),
            ("test --language sh", 120, "'test' is what its test will be called"),
            ("testing --language swift", 120, "'testing' would become the module Testing, and there is one"),
            ("geolocation --language c", 120, "'geolocation' is a built-in one"),
            ("x --language swift --package /no/such", 120, "'--package /no/such': there is no Package.swift"),
            (String(repeating: "a", count: 59) + " --language sh", 120, "has more than 58 characters"),
        ]
        for (words, status, message) in cases {
            let outcome = try await Program.shell("cd \(parent.path) && \"$0\" collectors new \(words)")
            #expect(outcome.status == status && outcome.output.isEmpty)
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
        }
        #expect(TemporaryFolder.read("\(parent.path)/taken") == "mine")
        #expect(try await output("ls", parent.path) == "taken\n")
    }
}
