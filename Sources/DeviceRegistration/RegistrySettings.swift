public import CollectorCore
public import HTTPTransport
public import ProbeLog

extension Registry {
    /// How a registry works, set by code.
    public struct Settings: Sendable {
        /// Folder of the state files; it is made with mode 0700 when there is something to keep.
        public var stateFolder = "/var/lib/fieldprobe/registration"
        /// Certificates in PEM form that are trusted instead of the system's.
        public var caFile: String?
        public var proxy = HTTPRequest.Proxy.environment
        public var timeouts: HTTPTimeouts
        /// Also to other machines. Their network then sees the secret, and who answers is not checked.
        public var allowsPlainHTTP = false
        public var clock: any MeasurementClock = SystemMeasurementClock()
        public var machine = MachineIdentity.system
        public var logger = Logger.silent
        public var userAgent = "fieldprobe"
        var files: any FileOperations = SystemFiles()

        public init() { timeouts = HTTPTimeouts(total: .seconds(120)) }

        /// - Parameter stateDirectory: the product's state directory; the registration has a folder of its own in it.
        public init(stateDirectory: String) {
            self.init()
            stateFolder = stateDirectory + "/registration"
        }
    }
}
