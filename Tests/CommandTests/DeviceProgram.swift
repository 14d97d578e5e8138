import Glibc
import LabSupport
import MeasurementModel
import ServerLab

/// The built program, with both of its streams in one.
enum MergedProgram {
    /// - Returns: standard output and standard error together, and the exit status.
    static func run(_ words: [String], under: [String] = [], input: String? = nil) throws -> (output: String, status: Int32) {
        let folder = try TemporaryFolder()
        var descriptor: Int32 = -1
        if let input { descriptor = open(try folder.write("input", input), O_RDONLY | O_CLOEXEC) }
        defer { if descriptor >= 0 { close(descriptor) } }
        return try ChildProcess(under + [Program.path] + words, merged: true, stdin: descriptor).finish()
    }
}

/// A device that the program runs on: its state folder, and the server that it is configured for.
struct ProgramOnDevice {
    let folder: TemporaryFolder
    let api: FakeClientAPI

    init() throws {
        folder = try TemporaryFolder()
        api = try FakeClientAPI()
    }

    var options: [String] {
        [
            "--set", "fieldprobe.state-directory=\(folder.path)/state", "--set", "fieldprobe.api-endpoint=\(api.apiEndpoint)",
            "--set", "collector.geolocation.enabled=no",
        ]
    }

    func run(_ command: String, _ words: String..., under: [String] = [], input: String? = nil) throws -> (output: String, status: Int32) {
        try MergedProgram.run([command] + options + words, under: under, input: input)
    }

    func status() throws -> JSONValue { try JSONValue(parsing: run("status", "--json").output) }
}
