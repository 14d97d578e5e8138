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

    @Test("Of neighbours exactly the watched ones pass, and none where nobody listens for them")
    func neighbours() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.ip("link add d0 type veth peer name p0")
            for name in ["d0", "p0"] {
                try namespace.ip("link set \(name) addrgenmode none")
                try namespace.ip("link set \(name) up")
            }
            let watched = [IPAddress("192.0.2.7")!, IPAddress("2001:db8::7")!]
            let monitor = try NetworkMonitor(of: [.neighbours], watching: watched)
            let other = try NetworkMonitor(watching: watched)
            while try monitor.drain() != NetworkMonitor.Drained() { usleep(50000) }
            while try other.drain() != NetworkMonitor.Drained() { usleep(50000) }
            let near = [
                "192.0.2.6", "192.0.2.3", "64.0.2.7", "192.0.2.135", "2001:db8::6", "2001:db8:0:1::7", "2001:db9::7", "a001:db8::7",
            ]
            try namespace.batch(near.map { "neigh add \($0) lladdr 02:00:00:00:00:01 dev d0" })
            #expect(try monitor.drain() == NetworkMonitor.Drained())
            for address in watched {
                try namespace.ip("neigh add \(address) lladdr 02:00:00:00:00:01 dev d0")
                #expect(try monitor.drain().news == 1)
                try namespace.ip("neigh del \(address) dev d0")
                // It becomes failed before it goes.
                #expect(try monitor.drain().news >= 1)
            }
            // What a bridge learns is told to the same group.
            try namespace.ip("link add b0 type bridge")
            try namespace.ip("link set d0 master b0")
            try ChildProcess.run("bridge", "fdb", "add", "02:00:00:00:00:05", "dev", "d0", "master", "static")
            #expect(try monitor.drain() == NetworkMonitor.Drained())
            try monitor.watch([IPAddress("192.0.2.6")!])
            try namespace.ip("neigh replace 192.0.2.6 lladdr 02:00:00:00:00:02 dev d0")
            #expect(try monitor.drain().news == 1)
            try namespace.ip("link set d0 nomaster")
            while try other.drain() != NetworkMonitor.Drained() { usleep(50000) }
            try namespace.ip("neigh replace 192.0.2.7 lladdr 02:00:00:00:00:03 dev d0")
            #expect(try other.drain() == NetworkMonitor.Drained())
        }
    }
}
