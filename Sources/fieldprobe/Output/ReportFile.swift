internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Where a report goes. The file is made before the test, so that a folder that is missing or full is told before anything is measured,
/// and gets its name only when all of it is there.
struct ReportFile {
    private enum Target {
        case none, standardOutput
        case file(path: String, temporary: String, descriptor: Int32)
    }

    private let target: Target

    /// - Parameter path: `-` is standard output, nil is nowhere.
    init(_ path: String?) throws {
        switch path {
        case nil: target = .none
        case "-": target = .standardOutput
        case let path?:
            let temporary = "\(path).\(getpid()).tmp"
            let descriptor = clinux_open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o644)
            guard descriptor >= 0 else {
                throw CommandFailure(.report, "the report cannot be written to '\(path)': \(SystemError.text(-descriptor))")
            }
            target = .file(path: path, temporary: temporary, descriptor: descriptor)
        }
    }

    var isStandardOutput: Bool { if case .standardOutput = target { true } else { false } }
    var isNowhere: Bool { if case .none = target { true } else { false } }

    func write(_ report: Report) throws {
        let text = report.json.text(pretty: true) + "\n"
        switch target {
        case .none: break
        case .standardOutput: try Output.print(text)
        case .file(let path, let temporary, let descriptor):
            var error = Output.write(Array(text.utf8), to: descriptor)
            if error == 0, fsync(descriptor) != 0, errno != EINVAL { error = errno }
            if close(descriptor) != 0, error == 0 { error = errno }
            if error == 0, rename(temporary, path) != 0 { error = errno }
            guard error != 0 else { return }
            unlink(temporary)
            throw CommandFailure(.report, "the report cannot be written to '\(path)': \(SystemError.text(error))")
        }
    }

    /// Takes the unfinished file away again.
    func abandon() {
        guard case .file(_, let temporary, let descriptor) = target else { return }
        close(descriptor)
        unlink(temporary)
    }
}
