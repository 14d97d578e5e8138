internal import MeasurementModel

/// One thing that has to be there for a part of the work.
struct DoctorCheck: Sendable {
    /// A word for programs.
    let name: String
    /// May block, but never for long.
    let look: @Sendable (Configuration) -> Finding

    struct Finding: Sendable {
        let isOK: Bool
        /// What was found.
        let what: String
        /// What to do; empty when nothing is to be done.
        let advice: String

        static func ok(_ what: String) -> Finding { Finding(isOK: true, what: what, advice: "") }
        static func no(_ what: String, _ advice: String) -> Finding { Finding(isOK: false, what: what, advice: advice) }
    }

    /// Every check, in the order in which they are shown.
    static let all: [DoctorCheck] = [
        .configuration, .stateFolder, .registration, .clock, .preciseLocation, .wifiIdentity, .gpsd, .wifi, .systemBus,
        .busName("networkmanager", "org.freedesktop.NetworkManager", "NetworkManager", "it tells which connections are metered"),
        .busName("modemmanager", "org.freedesktop.ModemManager1", "ModemManager", "it tells about cellular modems"),
    ]
}
