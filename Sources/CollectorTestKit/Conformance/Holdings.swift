internal import CLinux
internal import Glibc
internal import MeasurementModel

/// What this process holds at one moment, by /proc (proc(5)), with a name for each thing.
struct Holdings: Sendable {
    /// Of one kind of thing: an id of its own, and what it is.
    typealias Things = [String: String]

    var descriptors: Things = [:]
    var threads: Things = [:]
    /// Children that have not been waited for: running ones and zombies.
    var children: Things = [:]

    static func now() -> Holdings {
        var holdings = Holdings()
        for number in namesInFolder("/proc/self/fd") {
            // The listing's own descriptor is gone by now.
            guard let link = link("/proc/self/fd/\(number)") else { continue }
            holdings.descriptors["\(number) \(link)"] = link.prefix(1) == "/" ? link : String(link.prefix { $0 != ":" })
        }
        for thread in namesInFolder("/proc/self/task") { holdings.threads[thread] = firstLine("/proc/self/task/\(thread)/comm") ?? "gone" }
        holdings.children = processes(of: getpid())
        return holdings
    }

    /// What is in the folders for temporary files: the whole machine's.
    static func temporaryFiles() -> Set<String> {
        var files: Set<String> = []
        for folder in temporaryFolders { for name in namesInFolder(folder) { files.insert("\(folder)/\(name)") } }
        return files
    }

    private static var temporaryFolders: Set<String> {
        let chosen = getenv("TMPDIR").map { String(cString: $0) }
        return [chosen.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp", "/tmp", "/dev/shm"]
    }

    /// The children by each process's parent in /proc/PID/stat, which every kernel has.
    private static func processes(of parent: pid_t) -> Things {
        var children: Things = [:]
        for name in namesInFolder("/proc") {
            guard pid_t(name) != nil, let stat = firstLine("/proc/\(name)/stat") else { continue }
            // The name stands in brackets and may hold anything: the fields after its last one count. State, then parent.
            guard let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")") else { continue }
            let fields = stat[stat.index(after: close)...].split(separator: " ")
            guard fields.count > 1, pid_t(fields[1]) == parent else { continue }
            children[name] = String(stat[stat.index(after: open)..<close]) + (fields[0] == "Z" ? " (zombie)" : "")
        }
        return children
    }

    // MARK: Growth

    /// What has come since, in words with the commonest first; nil where less than `limit` has.
    static func growth(from before: Things, to after: Things, limit: Int, thing: String) -> String? {
        let grown = after.count - before.count
        guard grown >= limit else { return nil }
        var kinds: [String: Int] = [:]
        for (key, name) in after where before[key] == nil { kinds[name, default: 0] += 1 }
        let list = kinds.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3).map { "\($0.value) x \($0.key)" }
        return "\(grown) more \(thing) than before: \(list.joined(separator: ", "))"
    }

    /// Octets on the heap; nil where the allocator does not say, as under a sanitizer.
    static func heap() -> Int { Int(clinux_heap_in_use()) }

    /// Whether the allocator that is asked is the one that allocates.
    static var canMeasureHeap: Bool {
        let size = 4 << 20
        return (0..<3).contains { _ in
            let before = heap()
            let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
            block.storeBytes(of: 1, as: UInt8.self)
            defer { block.deallocate() }
            return heap() - before > size / 2
        }
    }

    // MARK: /proc

    private static func link(_ path: String) -> String? {
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = octets.withUnsafeMutableBytes { readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count) }
        return count > 0 ? String(decoding: octets.prefix(count), as: UTF8.self) : nil
    }

    private static func firstLine(_ path: String) -> String? {
        let descriptor = clinux_open(path, O_RDONLY, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &octets, octets.count)
        guard count > 0 else { return nil }
        return String(decoding: octets.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
