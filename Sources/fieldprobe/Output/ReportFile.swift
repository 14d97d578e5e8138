internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// Where a report goes. The file is made before the test, so that a folder that is missing or full is told before anything is measured,
/// and gets its name only when all of it is there.
final class ReportFile: Sendable {
    private enum Target: Sendable {
        case none, standardOutput
        /// A device, FIFO or the like: written as it is, because a rename would put a file in its place.
        case direct(path: String, descriptor: Int32)
        case file(path: String, temporary: String, descriptor: Int32)
    }

    private let target: Target
    /// The descriptor was closed, and what is in the file is to stay.
    private let isDone = Mutex(false)

    /// - Parameter path: `-` is standard output, nil is nowhere.
    init(_ path: String?) throws {
        switch path {
        case nil: target = .none
        case "-": target = .standardOutput
        case let path?: target = try Self.target(path)
        }
    }

    private static func target(_ path: String) throws -> Target {
        guard !path.isEmpty else { throw CommandFailure(.usage, "'--output' is empty: name a file, or '-' for standard output") }
        var status = stat()
        let isThere = stat(path, &status) == 0
        let kind = status.st_mode & S_IFMT
        guard !isThere || kind != S_IFDIR else {
            throw CommandFailure(.usage, "the report cannot be written to '\(path)', which is a folder: name a file in it")
        }
        let resolved = resolved(path)
        var target = stat()
        // A link of /proc may name what has no such name any more: then only the link itself leads there.
        let isSame = !isThere || stat(resolved, &target) == 0 && target.st_ino == status.st_ino && target.st_dev == status.st_dev
        guard !isThere || kind == S_IFREG && isSame else {
            let descriptor = clinux_open(path, O_WRONLY | O_NOCTTY, 0)
            guard descriptor >= 0 else { throw failure(path, -descriptor) }
            return .direct(path: path, descriptor: descriptor)
        }
        // The file that takes its place lets nobody read it who could not before.
        let mode = isThere ? status.st_mode & 0o666 : 0o644
        var descriptor = -EEXIST
        // One that an earlier run kept after a failure is somebody's report: it is not overwritten.
        for attempt in 0..<100 where descriptor == -EEXIST {
            let temporary = "\(resolved).\(getpid())\(attempt == 0 ? "" : "-\(attempt)").tmp"
            descriptor = clinux_open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
            if descriptor >= 0 { return .file(path: resolved, temporary: temporary, descriptor: descriptor) }
        }
        throw failure(path, -descriptor)
    }

    private static func failure(_ path: String, _ error: Int32) -> CommandFailure {
        CommandFailure(.report, "the report cannot be written to '\(path)': \(SystemError.text(error))")
    }

    /// Follows symbolic links, also to what is not there yet: the link stays, and what it points to is written.
    private static func resolved(_ path: String) -> String {
        var path = path
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        // As many as the kernel follows (path_resolution(7)).
        for _ in 0..<40 {
            let count = buffer.withUnsafeMutableBytes { readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count) }
            guard count > 0 else { return path }
            let next = String(decoding: buffer[..<count], as: UTF8.self)
            if next.hasPrefix("/") {
                path = next
            } else if let slash = path.lastIndex(of: "/") {
                path = path[...slash] + next
            } else {
                path = next
            }
        }
        return path
    }

    var isStandardOutput: Bool { if case .standardOutput = target { true } else { false } }
    var isNowhere: Bool { if case .none = target { true } else { false } }

    func write(_ report: Report) throws {
        let text = report.json.text(pretty: true) + "\n"
        switch target {
        case .none: break
        case .standardOutput: try Output.print(text)
        case .direct(let path, let descriptor):
            let error = finish(descriptor, text)
            guard error == 0 else { throw Self.failure(path, error) }
        case .file(let path, let temporary, let descriptor):
            var error = finish(descriptor, text)
            let isWhole = error == 0
            if isWhole, rename(temporary, path) != 0 { error = errno }
            guard error != 0 else { return }
            // A test cannot be run again as it was: what there is of its report is kept.
            throw CommandFailure(
                .report,
                "the report cannot be written to '\(path)': \(SystemError.text(error)); "
                    + (isWhole ? "it is in '\(temporary)': move it from there" : "what there is of it is in '\(temporary)'"))
        }
    }

    /// Writes everything and closes. 0, or the errno.
    private func finish(_ descriptor: Int32, _ text: String) -> Int32 {
        isDone.withLock { $0 = true }
        var error = Output.write(Array(text.utf8), to: descriptor)
        // What is no file has nothing to sync.
        if error == 0, fsync(descriptor) != 0, errno != EINVAL, errno != EROFS { error = errno }
        if close(descriptor) != 0, error == 0 { error = errno }
        return error
    }

    /// Takes the unfinished file away again.
    func abandon() {
        let wasDone = isDone.withLock { isDone in
            defer { isDone = true }
            return isDone
        }
        guard !wasDone else { return }
        switch target {
        case .none, .standardOutput: break
        case .direct(_, let descriptor): close(descriptor)
        case .file(_, let temporary, let descriptor):
            close(descriptor)
            unlink(temporary)
        }
    }
}
