internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Who belongs to a process group, and what it costs, as /proc tells (proc(5)).
enum ProcessGroup {
    /// One line of /proc/PID/stat.
    struct Entry {
        let pid: Int32
        let name: String
        let state: String
        let group: Int32
        /// Clock ticks of itself and of those children that it has waited for.
        let ticks: Int64
    }

    /// Without zombies.
    static func members(_ group: Int32) -> [Entry] { entries().filter { $0.group == group && $0.state != "Z" } }

    /// Processor time of all that are in the group, in seconds, with that of ended children that somebody in it has waited for.
    static func processorTime(of group: Int32) -> Double {
        let ticks = entries().reduce(0) { $1.group == group ? $0 + $1.ticks : $0 }
        return Double(ticks) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }

    private static func entries() -> [Entry] { namesInFolder("/proc").compactMap { Int32($0).flatMap(look) } }

    /// `pid (name) state ppid pgrp ... utime(14) stime cutime cstime`, where the name may hold anything.
    private static func look(_ pid: Int32) -> Entry? {
        let descriptor = clinux_open("/proc/\(pid)/stat", O_RDONLY, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0, let open = buffer.firstIndex(of: UInt8(ascii: "(")), let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let rest = String(decoding: buffer[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        guard rest.count > 14, let group = Int32(rest[2]) else { return nil }
        return Entry(
            pid: pid, name: String(decoding: buffer[(open + 1)..<end], as: UTF8.self), state: String(rest[0]), group: group,
            ticks: rest[11...14].reduce(0) { $0 + (Int64($1) ?? 0) })
    }
}
