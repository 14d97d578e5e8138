internal import MeasurementModel

/// What this process holds, counted in /proc.
public struct ProcessCounts: Sendable, Hashable {
    public let descriptors: Int
    public let threads: Int

    public static func now() -> ProcessCounts {
        // The listing itself holds one descriptor while it is read.
        ProcessCounts(descriptors: entries("/proc/self/fd") - 1, threads: entries("/proc/self/task"))
    }

    /// The names of this process's threads, sorted.
    public static func threadNames() -> [String] {
        namesInFolder("/proc/self/task").compactMap { TemporaryFolder.read("/proc/self/task/\($0)/comm") }
            .map { String($0.prefix { !$0.isNewline }) }.sorted()
    }

    private static func entries(_ path: String) -> Int { namesInFolder(path).count }
}
