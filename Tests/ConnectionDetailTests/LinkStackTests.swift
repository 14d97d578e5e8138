import CNetlink
import MeasurementModel
import Netlink
import Testing

@testable import ConnectionDetail

/// Types of interfaces and what lies below them, for kinds that a small kernel does not have.
struct LinkStackTests {
    private struct Machine: LinkFacts {
        var links: [LinkMessage]
        var wireless: Set<Int32> = []
        var types: [Int32: String] = [:]
        var modems: Set<String> = []
        var peers: [Int32: (IPAddress, UInt32?)] = [:]
        var routes: [IPAddress: Int32] = [:]

        func link(_ index: Int32) -> LinkMessage? { links.first { $0.index == index } }
        func ports(of master: Int32) -> [LinkMessage] { links.filter { $0.master == master } }
        func transport(of tunnel: LinkMessage) -> (peer: IPAddress, mark: UInt32?)? { peers[tunnel.index].map { ($0.0, $0.1) } }
        func output(to peer: IPAddress, mark: UInt32?) -> LinkMessage? { routes[peer].flatMap(link) }
        func isWireless(_ link: LinkMessage) -> Bool { wireless.contains(link.index) }
        func isModem(_ link: LinkMessage) -> Bool { modems.contains(link.name) }
        func deviceType(of link: LinkMessage) -> String? { types[link.index] }

        func resolve(_ index: Int32) throws -> String {
            let stack = try LinkStack.resolve(link(index)!, with: self)
            return "\(stack.type) over \(stack.bottom.map { "\($0.link.name) \($0.type)" } ?? "nothing")"
        }
    }

    private static func link(
        _ index: Int32, _ name: String, kind: String? = nil, hardware: Int32 = ARPHRD_ETHER, up: Bool = true, lower: Int32? = nil,
        master: Int32? = nil, active: Int32? = nil
    ) -> LinkMessage {
        LinkMessage(
            index: index, name: name, hardwareType: UInt16(truncatingIfNeeded: hardware), flags: up ? 0x10043 : 0, kind: kind, lower: lower,
            master: master, activePort: active)
    }

    @Test("Hardware by what the kernel says of it, never by its name")
    func hardware() throws {
        let machine = Machine(
            links: [
                Self.link(1, "wlan0"), Self.link(2, "eth1"), Self.link(3, "eth2"), Self.link(4, "eth3"),
                Self.link(5, "rmnet_ipa0", hardware: 519),
                Self.link(6, "weird", hardware: ARPHRD_CAN), Self.link(7, "lo", hardware: ARPHRD_LOOPBACK),
                Self.link(8, "eth4", kind: "wwan"),
            ], wireless: [2], types: [3: "wwan", 4: "bluetooth", 5: "wwan"])
        #expect(try machine.resolve(1) == "ethernet over wlan0 ethernet")
        #expect(try machine.resolve(2) == "wifi over eth1 wifi")
        #expect(try machine.resolve(3) == "cellular over eth2 cellular")
        #expect(try machine.resolve(4) == "bluetooth over eth3 bluetooth")
        #expect(try machine.resolve(5) == "cellular over rmnet_ipa0 cellular")
        #expect(try machine.resolve(6) == "other over weird other")
        #expect(try machine.resolve(8) == "cellular over eth4 cellular")
    }

    @Test("VLANs, bonds, teams and bridges have the type of the one port that carries the traffic")
    func stacked() throws {
        let machine = Machine(
            links: [
                Self.link(1, "wlan0"), Self.link(2, "eth0"), Self.link(3, "eth1"), Self.link(10, "vlan7", kind: "vlan", lower: 1),
                Self.link(11, "bond0", kind: "bond", active: 2), Self.link(12, "vlan8", kind: "vlan", lower: 11),
                Self.link(20, "bond1", kind: "bond"), Self.link(21, "eth2", master: 20), Self.link(22, "eth3", up: false, master: 20),
                Self.link(30, "br0", kind: "bridge"), Self.link(31, "eth4", master: 30), Self.link(32, "vnet0", kind: "tun", master: 30),
                Self.link(33, "veth9", kind: "veth", master: 30), Self.link(40, "br1", kind: "bridge"), Self.link(41, "eth5", master: 40),
                Self.link(42, "eth6", master: 40), Self.link(50, "gone", kind: "vlan", lower: 99),
            ], wireless: [1])
        #expect(try machine.resolve(10) == "wifi over wlan0 wifi")
        #expect(try machine.resolve(11) == "ethernet over eth0 ethernet")
        #expect(try machine.resolve(12) == "ethernet over eth0 ethernet")
        #expect(try machine.resolve(20) == "ethernet over eth2 ethernet")
        #expect(try machine.resolve(30) == "ethernet over eth4 ethernet")
        #expect(try machine.resolve(40) == "other over nothing")
        #expect(try machine.resolve(50) == "other over nothing")
    }

    @Test("P35 A tunnel is a VPN, and the output towards its peer shows what is below; a loop shows nothing")
    func tunnels() throws {
        let peer = IPAddress("198.18.0.1")!
        let inner = IPAddress("198.18.0.2")!
        let machine = Machine(
            links: [
                Self.link(1, "wlan0"), Self.link(2, "wg0", kind: "wireguard", hardware: 0xFFFE),
                Self.link(3, "tun0", kind: "tun", hardware: 0xFFFE),
                Self.link(4, "gre1", kind: "gre", hardware: ARPHRD_IPGRE), Self.link(5, "ppp0", hardware: ARPHRD_PPP),
                Self.link(6, "tunl0", hardware: ARPHRD_TUNNEL),
            ], wireless: [1], peers: [2: (peer, 51820), 3: (inner, nil), 4: (IPAddress("198.18.0.3")!, nil)],
            routes: [peer: 1, inner: 2, IPAddress("198.18.0.3")!: 4])
        #expect(try machine.resolve(2) == "vpn over wlan0 wifi")
        // A tunnel in a tunnel: the physical device at the very bottom.
        #expect(try machine.resolve(3) == "vpn over wlan0 wifi")
        #expect(try machine.resolve(4) == "vpn over nothing")
        #expect(try machine.resolve(5) == "vpn over nothing")
        #expect(try machine.resolve(6) == "vpn over nothing")
    }

    @Test("P36 What a modem carries is cellular: an Ethernet device, and PPP, which otherwise is a tunnel")
    func modems() throws {
        let machine = Machine(
            links: [Self.link(1, "enx02"), Self.link(2, "ppp0", hardware: ARPHRD_PPP), Self.link(3, "v7", kind: "vlan", lower: 1)],
            modems: ["enx02", "ppp0"])
        #expect(try machine.resolve(1) == "cellular over enx02 cellular")
        #expect(try machine.resolve(2) == "cellular over ppp0 cellular")
        #expect(try machine.resolve(3) == "cellular over enx02 cellular")
    }

    @Test("Devices that are stacked in a circle end the search")
    func circle() throws {
        let machine = Machine(links: [Self.link(1, "a", kind: "vlan", lower: 2), Self.link(2, "b", kind: "vlan", lower: 1)])
        #expect(try machine.resolve(1) == "other over nothing")
    }
}
