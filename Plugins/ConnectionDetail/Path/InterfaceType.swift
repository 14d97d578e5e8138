internal import CNetlink
internal import Netlink

/// What kind of link an interface is, decided from what the kernel says of it and never from its name.
enum InterfaceType: String, Sendable {
    case wifi, cellular, ethernet, vpn, bluetooth, loopback, other, none

    /// How devices relate to those below them, by their `IFLA_INFO_KIND`.
    enum Role: Sendable, Hashable {
        /// Nothing below: hardware, or a device that stands for some.
        case bottom
        /// One device below carries everything (`IFLA_LINK`).
        case stacked
        /// One of the ports carries the traffic.
        case bond, team, bridge
        /// Packets leave in other packets, by a route of their own.
        case tunnel
        /// Nothing that is known here.
        case unknown
    }

    static func role(of link: LinkMessage) -> Role {
        switch link.kind {
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "rmnet", "hsr_slave": .stacked
        case "bond": .bond
        case "team": .team
        case "bridge": .bridge
        case "tun", "wireguard", "ipip", "sit", "ip6tnl", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan", "vti", "vti6",
            "xfrm", "vxlan", "geneve", "ppp", "l2tpeth", "ovpn", "bareudp", "gtp", "amt":
            .tunnel
        case nil: isTunnelHardware(link.hardwareType) ? .tunnel : .bottom
        case "veth", "dummy", "dsa", "wwan", "virt_wifi", "netdevsim": .bottom
        default: .unknown
        }
    }

    /// Tunnels that show no kind: their fallback devices, and PPP (linux/if_arp.h).
    private static func isTunnelHardware(_ type: UInt16) -> Bool {
        [ARPHRD_PPP, ARPHRD_TUNNEL, ARPHRD_TUNNEL6, ARPHRD_SIT, ARPHRD_IPGRE, ARPHRD_IP6GRE].contains(Int32(type))
    }

    /// The type of a device that has none below it.
    ///
    /// - Parameters:
    ///   - deviceType: `DEVTYPE` of the device's uevent, where it has one.
    ///   - isWireless: nl80211 knows the device.
    static func bottom(_ link: LinkMessage, deviceType: String?, isWireless: Bool) -> (type: InterfaceType, source: String) {
        if link.isLoopback { return (.loopback, "interface flag") }
        if isWireless { return (.wifi, "nl80211") }
        switch (link.kind, deviceType) {
        case ("wwan", _): return (.cellular, "link kind")
        case ("veth", _), ("dummy", _), ("dsa", _): return (.ethernet, "link kind")
        case (_, "wwan"): return (.cellular, "device type")
        case (_, "wlan"): return (.wifi, "device type")
        case (_, "bluetooth"): return (.bluetooth, "device type")
        default: break
        }
        guard Int32(link.hardwareType) == ARPHRD_ETHER, link.kind == nil else { return (.other, "hardware type") }
        return (.ethernet, "hardware type")
    }
}
