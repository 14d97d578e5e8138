internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Whether a file says what root wants, and nobody else: what is found in a folder is run without being named by anybody, with the rights
/// of whoever runs the test.
public enum FileTrust {
    /// Walks the path as the kernel does (path_resolution(7)): every folder, every symbolic link and the file itself have to belong to root and
    /// must not be writable by group or others. A folder with the sticky bit may be: nobody can replace root's files there.
    ///
    /// - Returns: what is wrong, and what to do; nil when nothing is.
    public static func problem(with path: String) -> String? {
        guard path.hasPrefix("/") else { return "\(path) is not an absolute path" }
        var left = components(path)
        var walked = ""
        var links = 0
        if let problem = check("/", isLast: left.isEmpty)?.problem { return problem }
        while let name = left.first {
            left.removeFirst()
            if name == "." { continue }
            if name == ".." {
                walked = walked.split(separator: "/").dropLast().map { "/" + $0 }.joined()
                continue
            }
            let place = "\(walked)/\(name)"
            guard let found = check(place, isLast: left.isEmpty) else { return "\(place) cannot be looked at: \(SystemError.text(errno))" }
            if let problem = found.problem { return problem }
            guard let target = found.link else {
                walked = place
                continue
            }
            links += 1
            guard links <= 40 else { return "\(path) has too many symbolic links" }
            if target.hasPrefix("/") { walked = "" }
            left = components(target) + left
        }
        return nil
    }

    private static func components(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    /// Nil when it cannot be looked at.
    private static func check(_ path: String, isLast: Bool) -> (problem: String?, link: String?)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard status.st_uid == 0 else {
            return ("\(path) belongs to \(owner(status.st_uid)), and not to root: chown root:root \(path)", nil)
        }
        if kind == S_IFLNK { return (nil, link(path) ?? "") }
        let isSticky = kind == S_IFDIR && !isLast && status.st_mode & S_ISVTX != 0
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isSticky else {
            return ("\(path) can be written by others than root: chmod go-w \(path)", nil)
        }
        return (nil, nil)
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func owner(_ user: uid_t) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard getpwuid_r(user, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else { return "user \(user)" }
            return String(cString: entry.pw_name)
        }
    }
}
