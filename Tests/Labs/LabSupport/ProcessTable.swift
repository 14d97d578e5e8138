internal import Glibc
internal import MeasurementModel

/// The processes of this machine, as /proc shows them.
public enum ProcessTable {
    /// Whether there is such a process, be it a zombie.
    public static func exists(_ pid: Int64) -> Bool { access("/proc/\(pid)", F_OK) == 0 }

    /// Processes whose command line contains the words.
    public static func processes(with words: String) -> [Int32] {
        namesInFolder("/proc").compactMap { Int32($0) }.filter { pid in
            TemporaryFolder.read("/proc/\(pid)/cmdline")?.replacing("\0", with: " ").contains(words) ?? false
        }
    }
}
