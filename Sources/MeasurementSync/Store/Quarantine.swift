internal import CLinux
internal import Glibc
public import MeasurementModel

/// One file that was moved aside.
public struct QuarantinedReport: Sendable, Hashable {
    /// Its name in the folder `quarantine`.
    public let file: String
    /// The report's id; nil where the file had no name of the queue's.
    public let id: String?
    /// Why, as a word.
    public let code: String
    /// Why, in a sentence; nil where the disk had no room for it.
    public let detail: String?
    public let size: Int
    /// On the device's clock.
    public let since: Timestamp
}

/// Where files go that the server has refused for good, or that are no reports. They are kept for inspection, and block nobody.
///
/// The reason stands in the file's name, because a rename needs no space on the disk. What more there is to say goes into a text beside
/// it, if there is room.
struct Quarantine: Sendable {
    static let maximum = 100
    let folder: StateFolder

    init(_ folder: StateFolder) { self.folder = folder }

    /// - Parameter path: a file, or whatever else it is.
    func take(_ path: String, code: String, detail: String) throws(QueueError) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let stem = Self.word(name.hasSuffix(".json") ? String(name.dropLast(5)) : name, limit: 96, also: "-_")
        let target = freeName("\(stem).\(Self.word(code, limit: 40, also: "_"))")
        try StateFolder.makeFolder(folder.quarantine)
        explain(target, detail)
        guard rename(path, "\(folder.quarantine)/\(target).json") == 0 || errno == ENOENT else {
            let error = errno
            unlink("\(folder.quarantine)/\(target).txt")
            throw .failed("rename", path, error)
        }
        keepNewest()
    }

    func list() throws(QueueError) -> [QuarantinedReport] {
        try StateFolder.names(in: folder.quarantine).filter { $0.hasSuffix(".json") }.compactMap(entry).sorted { left, right in
            left.since != right.since ? left.since < right.since : left.file < right.file
        }
    }

    func path(_ report: QuarantinedReport) -> String { "\(folder.quarantine)/\(report.file)" }

    func remove(_ report: QuarantinedReport) {
        // A folder that somebody has put into the queue goes only when it is empty.
        if unlink(path(report)) != 0 { rmdir(path(report)) }
        unlink(explanation(report.file))
    }

    func clear() throws(QueueError) {
        for report in try list() { remove(report) }
    }

    /// The text beside a file that has left.
    func forget(_ report: QuarantinedReport) { unlink(explanation(report.file)) }

    private func entry(_ file: String) -> QuarantinedReport? {
        var facts = stat()
        guard lstat("\(folder.quarantine)/\(file)", &facts) == 0 else { return nil }
        let parts = file.split(separator: ".")
        guard parts.count >= 3 else { return nil }
        // The inode's change, which is the rename: the file's own time is that of the report.
        let since = Timestamp(milliseconds: Int64(facts.st_ctim.tv_sec) * 1000 + Int64(facts.st_ctim.tv_nsec) / 1_000_000)
        return QuarantinedReport(
            file: file, id: parts[1] == "foreign" ? nil : QueuedName(file: "\(parts[0]).json")?.id, code: String(parts[1]),
            detail: detail(of: file),
            size: Int(facts.st_size), since: since)
    }

    private func freeName(_ wanted: String) -> String {
        var name = wanted
        var number = 1
        var facts = stat()
        while lstat("\(folder.quarantine)/\(name).json", &facts) == 0 {
            number += 1
            name = "\(wanted).\(number)"
        }
        return name
    }

    private func explanation(_ file: String) -> String { "\(folder.quarantine)/\(file.dropLast(5)).txt" }

    private func explain(_ name: String, _ detail: String) {
        let descriptor = clinux_open("\(folder.quarantine)/\(name).txt", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        let octets = Array(detail.utf8.prefix(2000))
        let isWritten = octets.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == octets.count
        close(descriptor)
        if !isWritten { unlink("\(folder.quarantine)/\(name).txt") }
    }

    private func detail(of file: String) -> String? {
        let descriptor = clinux_open(explanation(file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 2000)
        let count = read(descriptor, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private func keepNewest() {
        guard let names = try? StateFolder.names(in: folder.quarantine), names.count > Self.maximum, let all = try? list() else { return }
        for report in all.prefix(max(0, all.count - Self.maximum)) { remove(report) }
    }

    /// Part of a file's name.
    private static func word(_ text: String, limit: Int, also: String) -> String {
        let characters = text.unicodeScalars.prefix(limit).map { scalar -> Character in
            let isPlain =
                ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || also.unicodeScalars.contains(scalar)
            return isPlain ? Character(scalar) : "_"
        }
        return characters.isEmpty ? "_" : String(characters)
    }
}
