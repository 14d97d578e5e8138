import CNetlink
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import Netlink

/// The socket filter in a real kernel: which route events pass.
struct RouteFilterTests {
    /// The prefixes whose events came through.
    private static func passed(_ socket: NetlinkSocket) throws -> [String] {
        var result: [String] = []
        while case .datagram(let datagram) = try socket.read() {
            for message in NetlinkMessage.all(in: datagram) where Int(message.type) == RTM_NEWROUTE {
                let octets = AttributeDecoder(message.payload.dropFirst(12)).payload(RTA_DST.rawValue)
                let address = octets.flatMap { IPAddress(octets: $0) }?.description ?? "default"
                result.append("\(address)/\(message.payload.u8(at: 1)!)")
            }
        }
        return result
    }

    @Test("Exactly the routes that cover an address pass, for every prefix length", arguments: [IPAddress.Family.ipv4, .ipv6])
    func prefixes(family: IPAddress.Family) async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 192.0.2.2/24 dev d0")
            try namespace.ip("addr add 2001:db8::2/64 dev d0 nodad")
            let target = IPAddress(family == .ipv4 ? "91.165.90.133" : "2a5b:c3d7:8e91:a5f0:5a96:c3e7:1b2d:4f87")!
            let socket = try NetlinkSocket(.route, receiveBuffer: 1 << 20)
            let watched = [target, IPAddress("198.18.0.1")!, IPAddress("2001:db8:1::1")!]
            try socket.attach(RouteFilter(addresses: watched))
            try socket.join(group: Int32((family == .ipv4 ? RTNLGRP_IPV4_ROUTE : RTNLGRP_IPV6_ROUTE).rawValue))
            socket.becomeNonBlocking()
            // The covering prefix of each length, and the one beside it, which differs in its last bit.
            var expected: [String] = []
            var commands: [String] = []
            for length in 1...family.bits {
                let covering = target.network(prefixLength: length)
                var octets = covering.octets
                octets[(length - 1) / 8] ^= UInt8(0x80 >> ((length - 1) % 8))
                for network in [covering, IPAddress(octets: octets)!] {
                    let first = network.octets[0]
                    // Not a unicast destination: the kernel refuses such routes.
                    if family == .ipv4 ? first == 0 || first == 127 || first >= 224 : first == 0xFF || network.isUnspecified { continue }
                    commands.append("route add \(network)/\(length) dev d0")
                    if watched.contains(where: { $0.family == family && $0.network(prefixLength: length) == network }) {
                        expected.append("\(network)/\(length)")
                    }
                }
            }
            try namespace.batch(commands)
            let got = try Self.passed(socket)
            #expect(Set(got).symmetricDifference(expected) == [], "\(got.count) passed")
        }
    }

    @Test("Default routes, and everything that is no route, pass")
    func others() async throws {
        try await NetworkNamespace.run { namespace in
            let monitor = try NetworkMonitor(watching: [IPAddress("203.0.113.9")!])
            // Without link-local addresses nothing changes by itself.
            try namespace.ip("link add d0 type veth peer name p0")
            for name in ["d0", "p0"] {
                try namespace.ip("link set \(name) addrgenmode none")
                try namespace.ip("link set \(name) up")
            }
            while try monitor.drain() != NetworkMonitor.Drained() { usleep(50000) }
            try namespace.ip("addr add 192.0.2.2/24 dev d0")
            #expect(try monitor.drain().news == 1)
            try namespace.ip("route add 198.51.100.0/24 via 192.0.2.1")
            #expect(try monitor.drain() == NetworkMonitor.Drained())
            try namespace.ip("route add default via 192.0.2.1")
            #expect(try monitor.drain().news == 1)
            try namespace.ip("rule add to 203.0.113.0/24 table 5")
            #expect(try monitor.drain().news == 1)
            try monitor.watch([IPAddress("198.51.100.7")!])
            try namespace.ip("route replace 198.51.100.0/24 via 192.0.2.9")
            #expect(try monitor.drain().news == 1)
        }
    }

    @Test("A next-hop object moves a route without a route event, and is seen")
    func nextHop() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 192.0.2.2/24 dev d0")
            try namespace.ip("nexthop add id 7 via 192.0.2.1 dev d0")
            try namespace.ip("route add 203.0.113.0/24 nhid 7")
            let monitor = try NetworkMonitor(watching: [IPAddress("203.0.113.9")!])
            try namespace.ip("nexthop replace id 7 via 192.0.2.9 dev d0")
            #expect(try monitor.drain().news >= 1)
            #expect(try RouteQuestions().route(to: IPAddress("203.0.113.9")!)?.gateway == IPAddress("192.0.2.9"))
        }
    }
}
