internal import MeasurementModel
internal import Netlink

/// What the kernel said about the path to the target, before anything is made of it.
struct PathFacts: Sendable {
    /// The path of one address family.
    struct FamilyPath: Sendable {
        let route: RouteMessage
        let link: LinkMessage
        /// The source address that the kernel would use.
        let address: IPAddress?
        /// Its entry, wherever it is assigned; nil for an address that is no link's, as in a whole network that is local.
        let entry: AddressMessage?
        /// Towards a link-local target a link-local source is the right one.
        var isLinkLocalTarget = false
    }

    /// The Wi-Fi association that carries the path.
    struct Association: Sendable {
        let interface: WirelessInterface
        let station: WirelessStation?
        /// The associated entries of the scan results: one, or one for each link of a multi-link association.
        let bss: [WirelessBSS]
        /// The standard of the modulation, remembered over frames in an old one.
        var standard: String?
    }

    var ipv4: FamilyPath?
    var ipv6: FamilyPath?
    var stack: LinkStack?
    var association: Association?
    var metered: Metered?
    /// The modem that carries the path, else the first one that is registered.
    var modem: Modem?

    /// The path that names the active interface.
    var active: FamilyPath? { ipv4 ?? ipv6 }
}

/// Whether a connection is metered, and who says so.
struct Metered: Sendable, Hashable {
    let isMetered: Bool
    let source: String
}
