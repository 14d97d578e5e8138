internal import CLinux
internal import Glibc
internal import MeasurementModel

/// What reading a pending report's file gave.
enum LoadedReport: Sendable {
    case body([UInt8])
    /// It is no report, and never will be one.
    case unreadable(code: String, detail: String)
    /// Somebody else has removed it.
    case gone
    /// This machine cannot read it now.
    case later(QueueError)
}

/// Reads and checks files that may be anything: cut off, zeroed, huge, a device, a link.
enum ReportFile {
    static func load(_ path: String, id: String, maximum: Int) -> LoadedReport {
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        switch -descriptor {
        case ...0: break
        case ENOENT: return .gone
        case EMFILE, ENFILE, ENOMEM: return .later(.failed("open", path, -descriptor))
        default: return .unreadable(code: "unreadable", detail: "it cannot be opened: \(SystemError.text(-descriptor))")
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            return .unreadable(code: "not_a_file", detail: "it is no ordinary file")
        }
        guard facts.st_size <= maximum else {
            return .unreadable(code: "too_large", detail: "it has \(facts.st_size) octets, and a report has \(maximum) at most")
        }
        do throws(QueueError) {
            let octets = try read(descriptor, path, expected: Int(facts.st_size))
            if let fault = fault(in: octets, id: id) { return .unreadable(code: "no_report", detail: fault) }
            return .body(octets)
        } catch {
            if error.code == .noResources { return .later(error) }
            return .unreadable(code: "unreadable", detail: error.description)
        }
    }

    /// The id that a report bears inside; nil for what is no report.
    static func id(of path: String, maximum: Int) -> String? {
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= maximum,
            let octets = try? read(descriptor, path, expected: Int(facts.st_size)), let report = try? JSONValue(parsing: octets)
        else { return nil }
        return report["id"]?.string
    }

    private static func read(_ descriptor: Int32, _ path: String, expected: Int) throws(QueueError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: expected)
        var length = 0
        while length < expected {
            let count = octets.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + length, expected - length) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .failed("read", path, errno) }
            if count == 0 { break }
            length += count
        }
        octets.removeLast(expected - length)
        return octets
    }

    /// What is wrong with a report; nil for a good one.
    static func fault(in octets: [UInt8], id: String) -> String? {
        guard !octets.isEmpty else { return "it is empty" }
        guard octets.contains(where: { $0 != 0 }) else { return "it holds nothing but zeros" }
        do {
            let report = try JSONValue(parsing: octets)
            guard report["schema"]?.string == Report.schema else { return "its schema is not \(Report.schema)" }
            guard report["id"]?.string == id else { return "its id is not the one in its name" }
            return nil
        } catch {
            return error.description
        }
    }
}
