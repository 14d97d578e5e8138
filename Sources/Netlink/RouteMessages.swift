internal import CNetlink
public import MeasurementModel

/// A network device as rtnetlink(7) describes it (`RTM_NEWLINK`).
public struct LinkMessage: Sendable, Hashable {
    /// The identity: names change hands.
    public let index: Int32
    /// Empty where the name is not UTF-8, which the kernel allows.
    public let name: String
    /// `ARPHRD_…` (linux/if_arp.h).
    public let hardwareType: UInt16
    /// `IFF_…` (netdevice(7)).
    public let flags: UInt32
    public let mtu: UInt32?
    /// Link-layer address, empty where there is none.
    public let address: [UInt8]
    /// `IFLA_INFO_KIND`, such as `veth` or `vlan`; nil for hardware.
    public let kind: String?
    /// Index of the device below (`IFLA_LINK`), when it is in the same network namespace.
    public let lower: Int32?
    /// Index of the bridge, bond or VRF that this device belongs to.
    public let master: Int32?
    /// `IFLA_BOND_ACTIVE_SLAVE`.
    public let activePort: Int32?
    /// Where a tunnel's packets go, when its kind says so.
    public let tunnelRemote: IPAddress?
    /// The mark of a tunnel's own packets, for their route lookup.
    public let tunnelMark: UInt32?

    public init(
        index: Int32, name: String, hardwareType: UInt16, flags: UInt32, mtu: UInt32? = nil, address: [UInt8] = [], kind: String? = nil,
        lower: Int32? = nil, master: Int32? = nil, activePort: Int32? = nil, tunnelRemote: IPAddress? = nil, tunnelMark: UInt32? = nil
    ) {
        self.index = index
        self.name = name
        self.hardwareType = hardwareType
        self.flags = flags
        self.mtu = mtu
        self.address = address
        self.kind = kind
        self.lower = lower
        self.master = master
        self.activePort = activePort
        self.tunnelRemote = tunnelRemote
        self.tunnelMark = tunnelMark
    }

    /// Decodes `struct ifinfomsg` and what follows; nil where a part without which it means nothing is missing.
    public init?(_ payload: ArraySlice<UInt8>) {
        guard let hardwareType = payload.u16(at: 2), let index = payload.s32(at: 4), let flags = payload.u32(at: 8), index > 0,
            payload.count >= 16
        else { return nil }
        var attributes = AttributeDecoder(payload.dropFirst(16))
        guard attributes.has(IFLA_IFNAME) else { return nil }
        let name = attributes.text(IFLA_IFNAME) ?? ""
        let info = attributes.nested(IFLA_LINKINFO)
        let kind = info?.text(IFLA_INFO_KIND)
        var data = info?.nested(IFLA_INFO_DATA)
        // With a namespace id the index below belongs to another namespace, and means a different device here.
        let lower = attributes.has(IFLA_LINK_NETNSID) ? nil : attributes.index(IFLA_LINK)
        let tunnel = TunnelAttributes(kind: kind)
        self.init(
            index: index, name: name, hardwareType: hardwareType, flags: flags, mtu: attributes.u32(IFLA_MTU),
            address: attributes.payload(IFLA_ADDRESS).map(Array.init) ?? [], kind: kind, lower: lower == index ? nil : lower,
            master: attributes.index(IFLA_MASTER),
            activePort: kind == "bond" ? data?.index(IFLA_BOND_ACTIVE_SLAVE) : nil,
            tunnelRemote: tunnel?.remote(in: data), tunnelMark: tunnel?.mark.flatMap { data?.u32($0) }.flatMap { $0 == 0 ? nil : $0 })
    }

    public var isUp: Bool { flags & UInt32(IFF_UP.rawValue) != 0 }
    /// The device has carrier (`IFF_LOWER_UP`).
    public var hasCarrier: Bool { flags & Self.lowerUp != 0 }
    public var isLoopback: Bool { flags & UInt32(IFF_LOOPBACK.rawValue) != 0 }
    /// Packets go out without asking for a link-layer address: loopback, point-to-point, and devices that say so.
    public var resolvesNothing: Bool {
        flags & UInt32(IFF_LOOPBACK.rawValue | IFF_POINTOPOINT.rawValue | IFF_NOARP.rawValue) != 0
    }
}

/// Where the kinds of tunnels keep their remote end and their mark (linux/if_tunnel.h, linux/if_link.h).
private struct TunnelAttributes {
    var remotes: [UInt16]
    var mark: UInt16?

    init?(kind: String?) {
        switch kind {
        // IFLA_IPTUN_REMOTE, IFLA_IPTUN_FWMARK
        case "ipip", "sit", "ip6tnl": self.init(remotes: [3], mark: 20)
        // IFLA_GRE_REMOTE, IFLA_GRE_FWMARK
        case "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan": self.init(remotes: [7], mark: 20)
        // IFLA_VTI_REMOTE, IFLA_VTI_FWMARK
        case "vti", "vti6": self.init(remotes: [5], mark: 6)
        case "vxlan": self.init(remotes: [UInt16(IFLA_VXLAN_GROUP), UInt16(IFLA_VXLAN_GROUP6)], mark: nil)
        case "geneve": self.init(remotes: [UInt16(IFLA_GENEVE_REMOTE), UInt16(IFLA_GENEVE_REMOTE6)], mark: nil)
        default: return nil
        }
    }

    private init(remotes: [UInt16], mark: UInt16?) {
        self.remotes = remotes
        self.mark = mark
    }

    /// A multicast group or an unset remote names no peer.
    func remote(in data: AttributeDecoder?) -> IPAddress? {
        for type in remotes {
            guard let payload = data?.payload(type), let address = IPAddress(octets: payload), !address.isUnspecified else { continue }
            let isMulticast = address.family == .ipv4 ? address.octets[0] & 0xF0 == 0xE0 : address.octets[0] == 0xFF
            if !isMulticast { return address }
        }
        return nil
    }
}

/// An address of a device (`RTM_NEWADDR`).
public struct AddressMessage: Sendable, Hashable {
    public let index: Int32
    /// The device's own address.
    public let local: IPAddress
    /// The peer of a point-to-point address, otherwise the own address.
    public let peer: IPAddress
    public let prefixLength: Int
    /// `IFA_F_…` (linux/if_addr.h), such as temporary and deprecated.
    public let flags: UInt32

    public init(index: Int32, local: IPAddress, peer: IPAddress? = nil, prefixLength: Int, flags: UInt32 = 0) {
        self.index = index
        self.local = local
        self.peer = peer ?? local
        self.prefixLength = prefixLength
        self.flags = flags
    }

    /// Decodes `struct ifaddrmsg` and what follows.
    public init?(_ payload: ArraySlice<UInt8>) {
        guard let number = payload.u8(at: 0), let family = IPAddress.Family(number: number), let prefix = payload.u8(at: 1),
            let shortFlags = payload.u8(at: 2), let index = payload.s32(at: 4), index > 0, Int(prefix) <= family.bits
        else { return nil }
        var attributes = AttributeDecoder(payload.dropFirst(8))
        func address(_ type: Int) -> IPAddress? {
            attributes.payload(type).flatMap { IPAddress(octets: $0) }.flatMap { $0.family == family ? $0 : nil }
        }
        // IFA_LOCAL is the own address of a point-to-point pair; IPv6 sends it only then, IPv4 always (linux/if_addr.h).
        let peer = address(IFA_ADDRESS)
        guard let local = address(IFA_LOCAL) ?? peer else { return nil }
        let flags = attributes.u32(IFA_FLAGS) ?? UInt32(shortFlags)
        self.init(index: index, local: local, peer: peer, prefixLength: Int(prefix), flags: flags)
    }
}

/// A route, or the kernel's answer to a lookup (`RTM_NEWROUTE`).
public struct RouteMessage: Sendable, Hashable {
    public let family: IPAddress.Family
    /// `RTN_…` (linux/rtnetlink.h).
    public let type: UInt8
    public let outputIndex: Int32?
    /// The source address that the kernel would use.
    public let source: IPAddress?
    /// Next hop; of the other family for an IPv4 route by an IPv6 neighbour (`RTA_VIA`).
    public let gateway: IPAddress?
    /// `RTNH_F_…` and `RTM_F_…`.
    public let flags: UInt32

    public init(
        family: IPAddress.Family, type: UInt8, outputIndex: Int32?, source: IPAddress? = nil, gateway: IPAddress? = nil,
        flags: UInt32 = 0
    ) {
        self.family = family
        self.type = type
        self.outputIndex = outputIndex
        self.source = source
        self.gateway = gateway
        self.flags = flags
    }

    /// Decodes `struct rtmsg` and what follows.
    public init?(_ payload: ArraySlice<UInt8>) {
        guard let number = payload.u8(at: 0), let family = IPAddress.Family(number: number), let type = payload.u8(at: 7),
            let flags = payload.u32(at: 8)
        else { return nil }
        var attributes = AttributeDecoder(payload.dropFirst(12))
        func address(_ attribute: UInt32) -> IPAddress? { attributes.payload(attribute).flatMap { IPAddress(octets: $0) } }
        // struct rtvia: the family in two octets, then the address.
        let via = attributes.payload(RTA_VIA.rawValue).flatMap { IPAddress(octets: $0.dropFirst(2)) }
        self.init(
            family: family, type: type, outputIndex: attributes.index(RTA_OIF.rawValue), source: address(UInt32(RTA_PREFSRC.rawValue)),
            gateway: address(UInt32(RTA_GATEWAY.rawValue)) ?? via, flags: flags)
    }

    /// Packets would leave by a device, or arrive here.
    public var isPath: Bool { type == UInt8(RTN_UNICAST) || type == UInt8(RTN_LOCAL) }
    /// The destination is an address of this machine.
    public var isLocal: Bool { type == UInt8(RTN_LOCAL) }
    /// The kernel itself calls the next hop unusable.
    public var isDead: Bool { flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) != 0 }
}
