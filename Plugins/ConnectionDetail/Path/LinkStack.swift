internal import MeasurementModel
internal import Netlink

/// What the resolver asks while it climbs down from an interface.
protocol LinkFacts {
    func link(_ index: Int32) throws -> LinkMessage?
    func ports(of master: Int32) throws -> [LinkMessage]
    /// Where a tunnel's own packets go, when anybody knows: configuration, the link's attributes, WireGuard.
    func transport(of tunnel: LinkMessage) throws -> (peer: IPAddress, mark: UInt32?)?
    /// The link that packets to an address leave by.
    func output(to peer: IPAddress, mark: UInt32?) throws -> LinkMessage?
    func isWireless(_ link: LinkMessage) throws -> Bool
    /// A modem carries its packets, whatever kind of device it shows.
    func isModem(_ link: LinkMessage) -> Bool
    func deviceType(of link: LinkMessage) -> String?
}

/// An interface and the physical device at the bottom of it.
struct LinkStack: Sendable {
    let type: InterfaceType
    /// How the type is known.
    let source: String
    /// The device that carries everything in the end; nil where the kernel does not tell.
    let bottom: (link: LinkMessage, type: InterfaceType)?
    /// Whether the active interface shares the bottom's link, as a VLAN does and a tunnel does not.
    let isTunnel: Bool

    /// Deeper stacks are configuration mistakes or loops.
    private static let maximumDepth = 8

    static func resolve(_ link: LinkMessage, with facts: some LinkFacts, depth: Int = 0) throws -> LinkStack {
        let unknown = LinkStack(type: .other, source: "link kind", bottom: nil, isTunnel: false)
        guard depth < maximumDepth else { return unknown }
        if facts.isModem(link) { return LinkStack(type: .cellular, source: "ModemManager", bottom: (link, .cellular), isTunnel: false) }
        switch InterfaceType.role(of: link) {
        case .bottom:
            let (type, source) = InterfaceType.bottom(
                link, deviceType: facts.deviceType(of: link), isWireless: try facts.isWireless(link))
            return LinkStack(type: type, source: source, bottom: (link, type), isTunnel: false)
        case .tunnel:
            return try tunnel(link, with: facts, depth: depth)
        case .unknown:
            return unknown
        case .stacked, .bond, .team, .bridge:
            guard let port = try carrier(of: link, with: facts, depth: depth) else { return unknown }
            let below = try resolve(port, with: facts, depth: depth + 1)
            return LinkStack(type: below.type, source: "port: \(below.source)", bottom: below.bottom, isTunnel: below.isTunnel)
        }
    }

    /// The one device below that carries the traffic; nil where there is none or more than one.
    private static func carrier(of link: LinkMessage, with facts: some LinkFacts, depth: Int) throws -> LinkMessage? {
        switch InterfaceType.role(of: link) {
        case .stacked:
            return try link.lower.flatMap { try facts.link($0) }
        case .bond, .team:
            if let active = link.activePort { return try facts.link(active) }
            return only(try facts.ports(of: link.index).filter { $0.isUp && $0.hasCarrier })
        case .bridge:
            // Virtual ports lead to guests and containers on this machine; what is physical in the end leads out of it.
            return only(
                try facts.ports(of: link.index).filter { port in
                    guard port.isUp, port.hasCarrier else { return false }
                    let below = try resolve(port, with: facts, depth: depth + 1)
                    return !below.isTunnel && below.bottom?.link.kind == nil && below.bottom != nil
                })
        case .bottom, .tunnel, .unknown:
            return nil
        }
    }

    private static func only(_ links: [LinkMessage]) -> LinkMessage? { links.count == 1 ? links[0] : nil }

    private static func tunnel(_ link: LinkMessage, with facts: some LinkFacts, depth: Int) throws -> LinkStack {
        var bottom: (link: LinkMessage, type: InterfaceType)?
        if let transport = try facts.transport(of: link), let output = try facts.output(to: transport.peer, mark: transport.mark),
            output.index != link.index
        {
            bottom = try resolve(output, with: facts, depth: depth + 1).bottom
            if bottom?.link.index == link.index { bottom = nil }
        }
        return LinkStack(type: .vpn, source: "link kind", bottom: bottom, isTunnel: true)
    }
}
