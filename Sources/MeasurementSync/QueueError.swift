internal import Glibc
public import MeasurementModel

/// Something that the queue could not do, and what to do about it.
public struct QueueError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong, for programs to compare. There may be more codes in a later version.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case testRunning = "test_running"
            case noServer = "no_server"
            case registrationLost = "registration_lost"
            case otherProcess = "other_process"
            case invalidReport = "invalid_report"
            case tooLarge = "too_large"
            case notFound = "not_found"
            case diskFull = "disk_full"
            case readOnly = "read_only"
            case noPermission = "no_permission"
            case noResources = "no_resources"
            case storage
            case closed
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// A test runs on this device: nothing is sent until it ends.
        public static let testRunning = Code(.testRunning)
        /// No server was configured, or the device is not registered.
        public static let noServer = Code(.noServer)
        /// The registration was lost meanwhile, and the queue was cleared.
        public static let registrationLost = Code(.registrationLost)
        /// Another process sends for this queue, and does not let go.
        public static let otherProcess = Code(.otherProcess)
        /// Its id is no name.
        public static let invalidReport = Code(.invalidReport)
        public static let tooLarge = Code(.tooLarge)
        public static let notFound = Code(.notFound)
        public static let diskFull = Code(.diskFull)
        public static let readOnly = Code(.readOnly)
        public static let noPermission = Code(.noPermission)
        /// This machine lacks memory, descriptors, watches or threads.
        public static let noResources = Code(.noResources)
        /// The file system failed in another way.
        public static let storage = Code(.storage)
        /// The queue object was closed.
        public static let closed = Code(.closed)

        public var description: String { value.rawValue }
    }

    public let code: Code
    /// What happened, and what to do.
    public let message: String
    /// The system call that failed.
    public let cause: SystemError?

    public init(_ code: Code, _ message: String, cause: SystemError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

extension QueueError {
    static let testRunning = QueueError(.testRunning, "a test is running on this device: send again when it has ended")
    static let noServer = QueueError(.noServer, "no server is configured for this queue: register the device, and make its registry first")
    static let closed = QueueError(.closed, "this queue was closed: make a new one")
    static let otherProcess = QueueError(
        .otherProcess, "another process is sending for this queue and does not let go of it: look for one that hangs, and end it")

    static func registrationLost(_ reason: String) -> QueueError {
        QueueError(.registrationLost, "this device's registration was lost (\(reason)), and the queue was cleared: register it again")
    }

    /// A failed system call on the queue's files.
    static func failed(_ call: String, _ path: String, _ errno: Int32) -> QueueError {
        let cause = SystemError(errno: errno, call: "\(call) \(path)")
        return switch errno {
        case ENOSPC, EDQUOT: QueueError(.diskFull, "the disk is full: make space for \(path)", cause: cause)
        case EROFS: QueueError(.readOnly, "the file system is read-only: mount it writable for \(path)", cause: cause)
        case EACCES, EPERM:
            QueueError(.noPermission, "this user may not use \(path): give it to the user that runs the tests", cause: cause)
        case EMFILE, ENFILE, ENOMEM, EAGAIN:
            QueueError(.noResources, "this machine is out of descriptors or memory: raise the limits of this process", cause: cause)
        default: QueueError(.storage, "the queue's files at \(path) cannot be used: check the disk", cause: cause)
        }
    }
}
