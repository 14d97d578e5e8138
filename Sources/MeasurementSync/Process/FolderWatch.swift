internal import CLinux
internal import Glibc

/// What other processes do on the state folder, told by the kernel (inotify(7)).
final class FolderWatch {
    enum Event {
        case lineWanted, lineMayBeFree
        case uploaderWanted, uploaderMayBeFree
        /// A file has come into the queue or left it.
        case queue(file: String)
        /// Too much at once: everything may have changed.
        case overflow
        /// A lock or a folder was taken away or put in the place of ours.
        case replaced
    }

    let descriptor: Int32
    private let line, uploader, wanted, queue: Int32

    private static let isReplaced = UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    /// The files have to be there.
    init(_ folder: StateFolder) throws(QueueError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw Self.lacking(errno) }
        let descriptor = descriptor
        func watch(_ path: String, _ mask: UInt32) throws(QueueError) -> Int32 {
            let watch = inotify_add_watch(descriptor, path, mask | Self.isReplaced)
            guard watch >= 0 else {
                let error = errno
                close(descriptor)
                throw error == ENOSPC ? Self.lacking(error) : .failed("inotify_add_watch", path, error)
            }
            return watch
        }
        line = try watch(folder.activityLock, UInt32(IN_OPEN) | Self.closing)
        uploader = try watch(folder.uploaderLock, Self.closing)
        wanted = try watch(folder.uploaderWanted, UInt32(IN_OPEN))
        queue = try watch(folder.queue, UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE))
    }

    private static let closing = UInt32(IN_CLOSE_WRITE) | UInt32(IN_CLOSE_NOWRITE)

    private static func lacking(_ errno: Int32) -> QueueError {
        var error = QueueError.failed("inotify", "the queue", errno)
        error = QueueError(
            .noResources,
            "the kernel gives no watch for tests of other processes, so nothing is sent: raise fs.inotify.max_user_instances and max_user_watches",
            cause: error.cause)
        return error
    }

    deinit { close(descriptor) }

    /// Everything that has happened since the last call, in order.
    func read() -> [Event] {
        var events: [Event] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return events }
            buffer.withUnsafeBytes { decode(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &events) }
        }
    }

    private func decode(_ octets: UnsafeRawBufferPointer, into events: inout [Event]) {
        var offset = 0
        while offset + 16 <= octets.count {
            let watch = octets.loadUnaligned(fromByteOffset: offset, as: Int32.self)
            let mask = octets.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = Int(octets.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            let name = octets[(offset + 16)..<min(octets.count, offset + 16 + length)].prefix { $0 != 0 }
            offset += 16 + length
            if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                events.append(.overflow)
            } else if mask & (Self.isReplaced | UInt32(IN_IGNORED)) != 0 {
                // With a name it is about a file in the folder.
                guard name.isEmpty else { continue }
                events.append(.replaced)
            } else if watch == line {
                events.append(mask & UInt32(IN_OPEN) != 0 ? .lineWanted : .lineMayBeFree)
            } else if watch == uploader {
                events.append(.uploaderMayBeFree)
            } else if watch == wanted {
                events.append(.uploaderWanted)
            } else if watch == queue {
                let file = String(decoding: name, as: UTF8.self)
                if !file.hasPrefix(DurableFile.prefix) { events.append(.queue(file: file)) }
            }
        }
    }
}
