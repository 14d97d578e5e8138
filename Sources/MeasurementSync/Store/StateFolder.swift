internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Where the queue's files are: `queue/` and `quarantine/`, and beside them the locks and counters that processes share.
struct StateFolder: Sendable, Hashable {
    let path: String

    init(_ path: String) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    var queue: String { path + "/queue" }
    var quarantine: String { path + "/quarantine" }
    var counters: String { path + "/queue.counters" }
    /// What the last failed upload failed of, for people who wonder why nothing arrives.
    var lastFailure: String { path + "/queue.failure" }
    /// Held shared by each process in which a test runs, exclusively by the one that sends.
    var activityLock: String { path + "/activity.lock" }
    /// Held exclusively by the one process that may send.
    var uploaderLock: String { path + "/uploader.lock" }
    /// Opened by a process that wants to become that one.
    var uploaderWanted: String { path + "/uploader.wanted" }

    /// Makes what is missing, for this user alone.
    func create() throws(QueueError) {
        try Self.makeFolder(path)
        try Self.makeFolder(queue)
        try Self.makeFolder(quarantine)
    }

    /// A folder, and those above it. A new one is durable when this returns: a report in a folder that a power cut takes away is lost.
    static func makeFolder(_ path: String) throws(QueueError) {
        if mkdir(path, 0o700) == 0 {
            try synchronise(parent(of: path))
            return
        }
        var error = errno
        if error == ENOENT, path != parent(of: path) {
            try makeFolder(parent(of: path))
            error = mkdir(path, 0o700) == 0 ? 0 : errno
            if error == 0 { return try synchronise(parent(of: path)) }
        }
        // On a read-only file system mkdir(2) fails even where there is nothing to make.
        if error == EEXIST || isFolder(path) { return }
        throw .failed("mkdir", path, error)
    }

    /// fsync(2) of a folder: its names are durable.
    static func synchronise(_ folder: String) throws(QueueError) {
        let descriptor = clinux_open(folder, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { throw .failed("open", folder, -descriptor) }
        defer { close(descriptor) }
        // EINVAL: the file system has no such thing, and nothing better either.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw .failed("fsync", folder, errno) }
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names in a folder, without `.` and `..`; none when it is not there.
    static func names(in folder: String) throws(QueueError) -> [String] {
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw .failed("opendir", folder, errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw .failed("readdir", folder, errno) }
        return names
    }
}
