internal import Glibc

/// The processes of this machine, as /proc shows them.
public enum ProcessTable {
    /// Whether there is such a process, be it a zombie.
    public static func exists(_ pid: Int64) -> Bool { access("/proc/\(pid)", F_OK) == 0 }

    /// Processes whose command line contains the words.
    public static func processes(with words: String) -> [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let pid = Int32(name), let text = TemporaryFolder.read("/proc/\(pid)/cmdline") else { continue }
            if text.replacing("\0", with: " ").contains(words) { found.append(pid) }
        }
        return found
    }
}
