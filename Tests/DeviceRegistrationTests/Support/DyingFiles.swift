import Glibc
import MeasurementModel
import Synchronization

@testable import DeviceRegistration

/// A disk on which the program dies, or runs out of space, at its n-th operation. A file that is being written then is half written.
final class DyingFiles: FileOperations {
    enum Manner: Sendable, CaseIterable {
        /// Nothing of this program reaches the disk from then on.
        case killed
        /// The one operation has been done, and then nothing any more.
        case killedAfterwards
        /// The one operation fails, and later ones work.
        case full
    }

    private let real = SystemFiles()
    private let count = Mutex(0)
    private let fatal: Int
    private let manner: Manner

    init(at fatal: Int, _ manner: Manner) {
        self.fatal = fatal
        self.manner = manner
    }

    var operations: Int { count.withLock { $0 } }
    var hasStruck: Bool { operations >= fatal }

    private func change(
        half: () throws(SystemError) -> Void = {}, _ operation: () throws(SystemError) -> Void
    ) throws(SystemError) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if number < fatal || (number > fatal && manner == .full) { return try operation() }
        if number == fatal {
            if manner == .killedAfterwards { try operation() } else { try half() }
        }
        throw SystemError(errno: manner == .full ? ENOSPC : EIO, call: "operation \(number)")
    }

    func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8]? { try real.read(path, limit: limit) }

    func makeFolder(_ path: String, mode: mode_t) throws(SystemError) { try real.makeFolder(path, mode: mode) }
    func setMode(_ path: String, _ mode: mode_t) throws(SystemError) { try real.setMode(path, mode) }

    func write(_ path: String, _ octets: [UInt8], mode: mode_t) throws(SystemError) {
        try change { () throws(SystemError) in
            try real.write(path, Array(octets.prefix(octets.count / 2)), mode: mode)
        } _: { () throws(SystemError) in
            try real.write(path, octets, mode: mode)
        }
    }

    func link(_ path: String, as other: String) throws(SystemError) {
        try change { () throws(SystemError) in try real.link(path, as: other) }
    }

    func rename(_ path: String, to other: String) throws(SystemError) {
        try change { () throws(SystemError) in try real.rename(path, to: other) }
    }

    func remove(_ path: String) throws(SystemError) { try change { () throws(SystemError) in try real.remove(path) } }
    func syncFolder(_ path: String) throws(SystemError) { try change { () throws(SystemError) in try real.syncFolder(path) } }
}
