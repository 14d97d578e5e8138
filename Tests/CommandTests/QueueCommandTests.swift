import Glibc
import LabSupport
import MeasurementModel
import MeasurementSync
import Testing

/// `fieldprobe queue ...`, as a person and as a program see it.
@Suite struct QueueCommandTests {
    let lab: TemporaryFolder
    let queue: MeasurementQueue

    init() throws {
        lab = try TemporaryFolder()
        queue = MeasurementQueue(stateDirectory: lab.path)
    }

    /// The program that was built with this test.
    private static let program: String = {
        for argument in CommandLine.arguments {
            let path = argument.split(separator: "/").dropLast().joined(separator: "/")
            if access("/\(path)/fieldprobe", X_OK) == 0 { return "/\(path)/fieldprobe" }
        }
        return Lab.path("../../.build/debug/fieldprobe")
    }()

    private func run(_ words: String...) async throws -> (output: String, status: Int32) {
        let arguments = [Self.program, "queue"] + words + ["--set", "fieldprobe.state-directory=\(lab.path)"]
        return try await offPool { try ChildProcess(arguments, merged: true).finish() }
    }

    private func add(_ ids: String...) throws {
        for id in ids {
            let report: JSONObject = [
                "schema": .string(Report.schema), "id": .string(id), "type": .string("WEB"), "subject": .string("website"),
            ]
            try queue.queueMeasurement(id: id, json: JSONValue.object(report).utf8())
        }
    }

    @Test func list() async throws {
        #expect(try await run("list").output.hasPrefix("Nothing waits to be sent."))
        try add("one", "two")
        let text = try await run("list")
        #expect(text.status == 0 && text.output.contains("one") && text.output.contains("2 of at most 50 wait"))
        let json = try JSONValue(parsing: try await run("list", "--json").output)
        #expect(json["reports"]?.array?.map { $0["id"]?.string } == ["one", "two"])
        #expect(json["statistics"]?["pending"]?.int64 == 2 && json["statistics"]?["enqueued"]?.int64 == 2)
        #expect(json["statistics"]?["oldest_age_s"]?.int64 != nil)
    }

    @Test func show() async throws {
        try add("one")
        let json = try JSONValue(parsing: try await run("show", "one", "--json").output)
        #expect(json["id"]?.string == "one")
        #expect(try await run("show", "one").status == 0)
        let missing = try await run("show", "nobody")
        #expect(missing.status == 125 && missing.output.contains("no report 'nobody' waits"))
    }

    @Test func sendWithoutAServer() async throws {
        try add("one")
        let result = try await run("send")
        #expect(result.status == 125 && result.output.contains("no server is configured"))
        #expect(queue.getPendingCount() == 1)
    }

    @Test func reset() async throws {
        try add("one")
        try lab.write("queue/.new-1-1-1", "half")
        #expect(try await run("reset").output == "1 reports wait\n")
        #expect(access(lab.path + "/queue/.new-1-1-1", F_OK) != 0)
    }

    @Test func quarantine() async throws {
        #expect(try await run("quarantine", "list").output == "Nothing is in quarantine.\n")
        try add("one")
        let name = "0000000000000001-one"
        #expect(rename("\(lab.path)/queue/\(name).json", "\(lab.path)/quarantine/\(name).document_invalid.json") == 0)
        try lab.write("quarantine/\(name).document_invalid.txt", "the type is missing\u{1B}[31m")
        let text = try await run("quarantine", "list").output
        #expect(text.contains("one") && text.contains("document_invalid") && text.contains("the type is missing"))
        #expect(!text.contains("\u{1B}"))
        let json = try JSONValue(parsing: try await run("quarantine", "list", "--json").output)
        #expect(json[0]?["id"]?.string == "one" && json[0]?["code"]?.string == "document_invalid")
        #expect(try await run("quarantine", "retry", "nobody").status == 125)
        #expect(try await run("quarantine", "retry", "one").output == "one waits to be sent\n")
        #expect(queue.getPendingCount() == 1)
        #expect(try await run("quarantine", "list").output == "Nothing is in quarantine.\n")
    }

    @Test func wrongWords() async throws {
        #expect(try await run().status == 120)
        #expect(try await run("quarantine").status == 120)
        #expect(try await run("show").status == 120)
        #expect(try await run("list", "extra").status == 120)
    }
}
