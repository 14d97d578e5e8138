internal import CLinux
internal import Glibc

/// Who belongs to a process group, as /proc/PID/stat tells (proc(5)).
enum ProcessGroup {
    /// Without zombies.
    static func members(_ group: Int32) -> [(pid: Int32, name: String)] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [(Int32, String)] = []
        while let entry = readdir(folder) {
            let text = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let pid = Int32(text), let (name, itsGroup) = look(pid), itsGroup == group else { continue }
            found.append((pid, name))
        }
        return found
    }

    /// `pid (name) state ppid pgrp ...`, where the name may hold anything.
    private static func look(_ pid: Int32) -> (name: String, group: Int32)? {
        let descriptor = clinux_open("/proc/\(pid)/stat", O_RDONLY, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0, let open = buffer.firstIndex(of: UInt8(ascii: "(")), let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")"))
        else {
            return nil
        }
        let rest = String(decoding: buffer[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        guard rest.count > 2, rest[0] != "Z", let group = Int32(rest[2]) else { return nil }
        return (String(decoding: buffer[(open + 1)..<end], as: UTF8.self), group)
    }
}
