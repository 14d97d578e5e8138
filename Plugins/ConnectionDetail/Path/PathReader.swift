internal import CLinux
internal import Glibc
internal import MeasurementModel
internal import Netlink

/// Asks the kernel for everything that a snapshot needs. It keeps nothing between two questions but its sockets.
final class PathReader {
    /// Two answers did not fit together: the state changed while it was asked for.
    struct Unsettled: Error {}

    private let questions: RouteQuestions
    private let wireless: WirelessQuestions?
    private let settings: ConnectionDetailSettings
    private let networkManager: NetworkManagerMetering
    let modemManager: ModemManager
    /// Whether the serving cell may be asked for.
    private let mayLocate: Bool
    private var modems: [Modem] = []
    private var lastStandard: (peer: [UInt8], standard: String)?

    /// - Throws: ``NetlinkError``.
    init(settings: ConnectionDetailSettings, mayLocate: Bool) throws {
        self.settings = settings
        self.mayLocate = mayLocate
        modemManager = ModemManager(address: settings.busAddress)
        networkManager = NetworkManagerMetering(address: settings.busAddress)
        questions = try RouteQuestions()
        wireless = try WirelessQuestions()
    }

    var hasWireless: Bool { wireless != nil }

    /// Where the last answer's tunnels send their packets: the routes to these matter too.
    private(set) var transports: Set<IPAddress> = []

    /// The path to the first address of each family.
    ///
    /// - Parameter believing: a source address without an entry is believed, because asking again has not helped.
    /// - Throws: ``Unsettled``, ``NetlinkError``.
    func read(_ targets: [IPAddress], now: MonotonicInstant, believing: Bool = false) throws -> PathFacts {
        transports = []
        // A little less than the poll's interval, so that each poll asks anew.
        let age = settings.pollInterval - .milliseconds(1)
        modems = modemManager.current(now: now, maximumAge: age, withCells: mayLocate)
        var facts = PathFacts()
        facts.modem = modems.first(where: \.isRegistered)
        facts.ipv4 = try path(to: targets.first { $0.family == .ipv4 }, believing)
        facts.ipv6 = try path(to: targets.first { $0.family == .ipv6 }, believing)
        guard let active = facts.active else { return facts }
        let stack = try LinkStack.resolve(
            active.link, with: LinkReader(reader: self, target: targets.first { $0.family == active.route.family }))
        facts.stack = stack
        let carriers = [active.link.name, stack.bottom?.link.name]
        facts.modem = modems.first { modem in carriers.contains { $0.map(modem.interfaces.contains) ?? false } } ?? facts.modem
        if let bottom = stack.bottom, bottom.type == .wifi { facts.association = try association(on: bottom.link) }
        facts.metered = metered(active.link, stack, now: now)
        return facts
    }

    private func path(to target: IPAddress?, _ believing: Bool) throws -> PathFacts.FamilyPath? {
        guard let target, let route = try questions.route(connectingTo: target), route.isPath, let index = route.outputIndex else {
            return nil
        }
        guard let link = try questions.link(index) else { throw Unsettled() }
        // Without other addresses IPv6 answers with ::1, and IPv4 with 0.0.0.0: no source.
        var address = route.source
        if address?.isUnspecified == true { address = nil }
        let entry = try address.flatMap { try self.entry(of: $0, near: index) }
        // The source is some link's, or the route was answered from before a change; or a whole network is local, or preferred.
        if address != nil, entry == nil, !believing { throw Unsettled() }
        return PathFacts.FamilyPath(
            route: route, link: link, address: address, entry: entry, isLinkLocalTarget: target.isLinkLocal)
    }

    private func entry(of address: IPAddress, near index: Int32) throws -> AddressMessage? {
        let near = try questions.addresses(address.family, on: index, acceptingInterrupted: true)
        if let entry = near.first(where: { $0.local == address }) { return entry }
        // A preferred source may belong to another interface.
        return try questions.addresses(address.family, on: 0, acceptingInterrupted: true).first { $0.local == address }
            ?? (address.isLoopback ? AddressMessage(index: index, local: address, prefixLength: address.family == .ipv4 ? 8 : 128) : nil)
    }

    private func association(on link: LinkMessage) throws -> PathFacts.Association? {
        guard let wireless, let interface = try wireless.interface(link.index), interface.isStation else { return nil }
        guard let station = try wireless.stations(link.index).first else { return nil }
        // In a fixed order: the dump has none, and the first one stands for a multi-link association.
        let bss = try wireless.scanResults(link.index).filter(\.isAssociated).sorted { ($0.linkID ?? -1) < ($1.linkID ?? -1) }
        // A frame in an old modulation, such as a retry, says nothing about the association's standard.
        let standard = [station.transmitRate?.standard, station.receiveRate?.standard].compactMap { $0 }.max(by: Self.isOlder)
        if let standard { lastStandard = (station.macAddress, standard) }
        let remembered = lastStandard.flatMap { $0.peer == station.macAddress ? $0.standard : nil }
        return PathFacts.Association(interface: interface, station: station, bss: bss, standard: standard ?? remembered)
    }

    private static func isOlder(_ left: String, _ right: String) -> Bool {
        let order = ["802.11n", "802.11ac", "802.11ax", "802.11be"]
        return (order.firstIndex(of: left) ?? -1) < (order.firstIndex(of: right) ?? -1)
    }

    private func metered(_ active: LinkMessage, _ stack: LinkStack, now: MonotonicInstant) -> Metered {
        let names = [active.name, stack.bottom?.link.name].compactMap { $0 }
        if names.contains(where: settings.meteredInterfaces.contains) { return Metered(isMetered: true, source: "configuration") }
        if stack.type == .loopback { return Metered(isMetered: false, source: "loopback") }
        // What carries the packets decides: a tunnel over a metered link is metered.
        let name = stack.bottom?.link.name ?? active.name
        let age = settings.pollInterval - .milliseconds(1)
        switch networkManager.metered(name, now: now, maximumAge: age) {
        case .known(let value): return Metered(isMetered: value, source: "NetworkManager")
        case .guessed(let value): return Metered(isMetered: value, source: "NetworkManager (guessed)")
        case .unknown, .absent: break
        }
        let isCellular = stack.type == .cellular || stack.bottom?.type == .cellular
        return Metered(isMetered: isCellular, source: isCellular ? "cellular by default" : "no source calls it metered")
    }

    /// What the resolver of stacked links asks.
    private struct LinkReader: LinkFacts {
        let reader: PathReader
        let target: IPAddress?

        func link(_ index: Int32) throws -> LinkMessage? { try reader.questions.link(index) }
        func ports(of master: Int32) throws -> [LinkMessage] { try reader.questions.ports(of: master) }

        func transport(of tunnel: LinkMessage) throws -> (peer: IPAddress, mark: UInt32?)? {
            let transport = knownTransport(of: tunnel)
            if let transport { reader.transports.insert(transport.peer) }
            return transport
        }

        private func knownTransport(of tunnel: LinkMessage) -> (peer: IPAddress, mark: UInt32?)? {
            if let peer = reader.settings.tunnelPeers[tunnel.name] { return (peer, nil) }
            if let remote = tunnel.tunnelRemote { return (remote, tunnel.tunnelMark) }
            guard tunnel.kind == "wireguard", let target else { return nil }
            return WireGuardQuestions.transport(on: tunnel.index, to: target).map { ($0.endpoint, $0.mark) }
        }

        func output(to peer: IPAddress, mark: UInt32?) throws -> LinkMessage? {
            guard let route = try reader.questions.route(to: peer, mark: mark), route.isPath, let index = route.outputIndex else {
                return nil
            }
            return try reader.questions.link(index)
        }

        func isWireless(_ link: LinkMessage) throws -> Bool { try reader.wireless?.interface(link.index) != nil }
        func isModem(_ link: LinkMessage) -> Bool { reader.modems.contains { $0.interfaces.contains(link.name) } }
        func deviceType(of link: LinkMessage) -> String? { DeviceType.of(link) }
    }
}
