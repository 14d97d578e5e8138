import CollectorCore
import ConnectionDetail
import LabSupport
import MeasurementModel
import Testing

/// The path that the kernel would take, against a real kernel in namespaces.
struct PathTests {
    /// Two links with addresses and a default route by the first.
    private static func twoLinks(_ namespace: NetworkNamespace) throws {
        try namespace.veth("d0", peer: "p0")
        try namespace.veth("d1", peer: "p1")
        try namespace.ip("addr add 192.0.2.2/24 dev d0")
        try namespace.ip("addr add 198.51.100.2/25 dev d1")
        try namespace.ip("route add default via 192.0.2.1")
    }

    @Test("R-11 R-14 R-15 One snapshot at the start, with the path to the target")
    func first() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(
                probe.fields == [
                    "type": "\"ethernet\"", "interface": "\"d0\"", "is_internet_reachable": "true", "is_connection_expensive": "false",
                    "ip_address": "\"192.0.2.2\"", "prefix_length": "24", "subnet": "\"192.0.2.0/24\"", "gateway": "\"192.0.2.1\"",
                    "mtu": "1500",
                ])
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(record.state == .ok)
            #expect(snapshots.count == 1)
        }
    }

    @Test("R-11 A test that is over at once still has its one snapshot")
    func instant() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            for _ in 0..<50 {
                let (record, snapshots) = TraceProbe().finish(in: namespace)
                #expect(record.state == .ok)
                #expect(snapshots.count == 1)
            }
        }
    }

    @Test("No network at all: type none, nothing else")
    func none() async throws {
        try await NetworkNamespace.run { namespace in
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields == ["type": "\"none\"", "is_internet_reachable": "false"])
            _ = probe.finish(in: namespace)
        }
    }

    @Test("An own address as target is the loopback, with the address's own prefix length")
    func ownAddress() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe(target: "198.51.100.2")
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["type"] == "\"loopback\"")
            #expect(probe.fields["interface"] == "\"lo\"")
            #expect(probe.fields["ip_address"] == "\"198.51.100.2\"")
            #expect(probe.fields["prefix_length"] == "25")
            #expect(probe.fields["is_internet_reachable"] == "true")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("M1 P12 The only address goes, and with it the default route without an event")
    func addressDeleted() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("addr del 192.0.2.2/24 dev d0")
            #expect(probe.wait { $0.fields["type"] == "\"none\"" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("M2 P12 A link goes down, and its routes without an event")
    func linkDown() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("route add default via 198.51.100.1 metric 100")
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("link set d0 down")
            #expect(probe.wait { $0.fields["interface"] == "\"d1\"" })
            try namespace.ip("link set d1 down")
            #expect(probe.wait { $0.fields["type"] == "\"none\"" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("M3 P26 A link is deleted and made again under its name")
    func linkDeleted() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("link del d0")
            #expect(probe.wait { $0.fields["type"] == "\"none\"" })
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 192.0.2.3/24 dev d0")
            try namespace.ip("route add default via 192.0.2.1")
            #expect(probe.wait { $0.fields["ip_address"] == "\"192.0.2.3\"" })
            #expect(probe.fields["interface"] == "\"d0\"")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("M4 The default route is replaced: a new route and no deletion")
    func routeReplaced() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("route replace default via 198.51.100.1")
            #expect(probe.wait { $0.fields["interface"] == "\"d1\"" })
            #expect(probe.fields["gateway"] == "\"198.51.100.1\"")
            #expect(probe.fields["subnet"] == "\"198.51.100.0/25\"")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("M6 P22 A rename is one change, and the old label is no name")
    func renamed() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("link set d0 name wan9")
            #expect(probe.wait { $0.fields["interface"] == "\"wan9\"" })
            probe.settle()
            #expect(probe.snapshots.count == 2)
            _ = probe.finish(in: namespace)
        }
    }

    @Test("P22 An interface is renamed and another takes its name, many times in one batch each")
    func namesChangeHands() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            for round in 0..<100 {
                let (from, to) = round % 2 == 0 ? ("d0", "wan0") : ("wan0", "d0")
                try namespace.batch([
                    "link set \(from) name \(to)", "link add \(from) type veth peer name q\(round)", "link set \(from) up",
                    "link set q\(round) up",
                ])
                #expect(probe.wait { $0.fields["interface"] == "\"\(to)\"" })
                #expect(probe.fields["ip_address"] == "\"192.0.2.2\"")
                try namespace.ip("link del \(from)")
            }
            #expect(!probe.snapshots.contains { $0["ip_address"] != .text("192.0.2.2") })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("M7 Multipath over IPv6: one hop goes, the other carries on")
    func multipath() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("addr add 2001:db8:1::2/64 dev d0 nodad")
            try namespace.ip("addr add 2001:db8:2::2/64 dev d1 nodad")
            try namespace.ip("-6 route add default nexthop via 2001:db8:1::1 dev d0 nexthop via 2001:db8:2::1 dev d1")
            let probe = TraceProbe(target: "2001:db8:ffff::1")
            #expect(probe.wait { $0.fields["gateway"] != nil })
            let first = probe.fields["interface"]
            let (gone, left) = first == "\"d0\"" ? ("1::1 dev d0", "d1") : ("2::1 dev d1", "d0")
            try namespace.ip("-6 route del default nexthop via 2001:db8:\(gone)")
            #expect(probe.wait { $0.fields["interface"] == "\"\(left)\"" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-14 Multipath over IPv4 answers as the kernel's own lookup does")
    func multipathIPv4() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("route replace default nexthop via 192.0.2.1 dev d0 nexthop via 198.51.100.1 dev d1")
            for last in 1...20 {
                let target = "203.0.113.\(last)"
                let probe = TraceProbe(target: target)
                #expect(probe.wait { $0.last != nil })
                let expected = try Oracle(namespace: namespace).fields(targets: [target])
                #expect(probe.fields == expected)
                _ = probe.finish(in: namespace)
            }
        }
    }

    @Test("P33 Several default routes: the lowest metric wins, and no metric is 0")
    func metrics() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("route del default")
            try namespace.ip("route add default via 192.0.2.1 metric 600")
            try namespace.ip("route add 0.0.0.0/0 via 198.51.100.1 metric 50")
            let probe = TraceProbe()
            #expect(probe.wait { $0.fields["interface"] == "\"d1\"" })
            try namespace.ip("route add default via 192.0.2.9")
            #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.9\"" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("P34 R-14 A default route that only a rule leads to")
    func policyRule() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("route del default")
            let probe = TraceProbe()
            #expect(probe.wait { $0.fields["type"] == "\"none\"" })
            try namespace.ip("route add default via 198.51.100.1 table 51820")
            try namespace.ip("rule add not fwmark 51820 table 51820")
            #expect(probe.wait { $0.fields["interface"] == "\"d1\"" })
            try namespace.ip("rule del not fwmark 51820 table 51820")
            #expect(probe.wait { $0.fields["type"] == "\"none\"" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-14 A rule that looks at the source decides in the second lookup, as connect() does")
    func sourceRule() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("route add default via 198.51.100.1 src 192.0.2.2 dev d1 table 100")
            try namespace.ip("rule add from 192.0.2.2 table 100")
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["interface"] == "\"d1\"")
            #expect(probe.fields["ip_address"] == "\"192.0.2.2\"")
            #expect(probe.fields["prefix_length"] == "24")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("Unreachable, prohibit and blackhole routes are no path", arguments: ["unreachable", "prohibit", "blackhole"])
    func noPath(kind: String) async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("addr add 2001:db8:1::2/64 dev d0 nodad")
            try namespace.ip("route add \(kind) 203.0.113.0/24")
            try namespace.ip("-6 route add \(kind) 2001:db8:ffff::/48")
            let probe = TraceProbe(also: ["2001:db8:ffff::1"])
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields == ["type": "\"none\"", "is_internet_reachable": "false"])
            _ = probe.finish(in: namespace)
        }
    }

    @Test("A path over a link without carrier is shown, and is not usable")
    func noCarrier() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let probe = TraceProbe()
            #expect(probe.wait { $0.fields["is_internet_reachable"] == "true" })
            try namespace.ip("link set p0 down")
            #expect(probe.wait { $0.fields["is_internet_reachable"] == "false" })
            #expect(probe.fields["interface"] == "\"d0\"")
            #expect(probe.fields["ip_address"] == "\"192.0.2.2\"")
            try namespace.ip("link set p0 up")
            #expect(probe.wait { $0.fields["is_internet_reachable"] == "true" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("Without a source address, or with a link-local one towards a global target, the path is not usable")
    func noSource() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("route add default dev d0")
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["interface"] == "\"d0\"")
            #expect(probe.fields["ip_address"] == nil)
            #expect(probe.fields["is_internet_reachable"] == "false")
            try namespace.ip("addr add 169.254.7.7/16 dev d0 scope link")
            probe.settle()
            #expect(probe.fields["ip_address"] == nil)
            #expect(probe.fields["is_internet_reachable"] == "false")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-15 Both families: the IPv4 path names the interface, the IPv6 path stands beside it")
    func bothFamilies() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("addr add 2001:db8:2::2/64 dev d1 nodad")
            try namespace.ip("-6 route add default via 2001:db8:2::1")
            let probe = TraceProbe(also: ["2001:db8:ffff::1"])
            #expect(probe.wait { $0.fields["ipv6_gateway"] != nil })
            #expect(probe.fields["interface"] == "\"d0\"")
            #expect(probe.fields["ip_address"] == "\"192.0.2.2\"")
            #expect(probe.fields["ipv6_address"] == "\"2001:db8:2::2\"")
            #expect(probe.fields["ipv6_prefix_length"] == "64")
            #expect(probe.fields["ipv6_gateway"] == "\"2001:db8:2::1\"")
            try namespace.ip("route del default")
            #expect(probe.wait { $0.fields["interface"] == "\"d1\"" })
            #expect(probe.fields["ip_address"] == "\"2001:db8:2::2\"")
            #expect(probe.fields["ipv6_address"] == nil)
            _ = probe.finish(in: namespace)
        }
    }

    @Test("A point-to-point address has its peer's network")
    func pointToPoint() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 192.0.2.2 peer 203.0.113.1/32 dev d0")
            try namespace.ip("route add default via 203.0.113.1")
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["ip_address"] == "\"192.0.2.2\"")
            #expect(probe.fields["subnet"] == "\"203.0.113.1/32\"")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("An IPv4 route by an IPv6 neighbour shows that neighbour")
    func viaIPv6() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            try namespace.ip("-4 route replace default via inet6 fe80::1 dev d0")
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["gateway"] == "\"fe80::1\"")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("P27 A link moves to another namespace")
    func moved() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let other = try namespace.other()
            defer { other.signal(9); other.wait() }
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("link set d0 netns \(NetworkNamespace.path(of: other))")
            #expect(probe.wait { $0.fields["type"] == "\"none\"" })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("P32 Of many addresses the one that the kernel would use; a deprecated one gives way")
    func manyAddresses() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.batch((1...50).map { "addr add 2001:db8:1::\($0)/64 dev d0 nodad" })
            try namespace.ip("-6 route add default via 2001:db8:1::ffff")
            let probe = TraceProbe(target: "2001:db8:ffff::1")
            #expect(probe.wait { $0.fields["ip_address"] != nil })
            for _ in 0..<5 {
                let used = probe.fields["ip_address"]!.dropFirst().dropLast()
                try namespace.ip("-6 addr change \(used)/64 dev d0 preferred_lft 0 valid_lft 3600")
                #expect(probe.wait { $0.fields["ip_address"] != "\"\(used)\"" })
                #expect(probe.fields == (try Oracle(namespace: namespace).fields(targets: ["2001:db8:ffff::1"])))
            }
            _ = probe.finish(in: namespace)
        }
    }

    @Test("P35 R-15 A tap as tunnel: the tunnel is active, and the configured peer shows the underlay")
    func tunnel() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            let holder = try namespace.tap("tap7")
            defer { holder.signal(9); holder.wait() }
            try namespace.ip("addr add 10.8.0.2/24 dev tap7")
            try namespace.ip("route add 198.18.0.1 via 198.51.100.1")
            try namespace.ip("route replace default via 10.8.0.1")
            var settings = ConnectionDetailSettings()
            settings.tunnelPeers = ["tap7": IPAddress("198.18.0.1")!]
            let probe = TraceProbe(settings: settings)
            #expect(probe.wait { $0.fields["underlay_interface"] != nil })
            #expect(probe.fields["type"] == "\"vpn\"")
            #expect(probe.fields["interface"] == "\"tap7\"")
            #expect(probe.fields["underlay_interface"] == "\"d1\"")
            #expect(probe.fields["underlay_type"] == "\"ethernet\"")
            try namespace.ip("route replace 198.18.0.1 via 192.0.2.1")
            #expect(probe.wait { $0.fields["underlay_interface"] == "\"d0\"" })
            _ = probe.finish(in: namespace)
            let plain = TraceProbe()
            #expect(plain.wait { $0.last != nil })
            #expect(plain.fields["type"] == "\"vpn\"")
            #expect(plain.fields["underlay_interface"] == nil)
            _ = plain.finish(in: namespace)
        }
    }

    @Test("A configured interface is metered, and so is a tunnel over it")
    func metered() async throws {
        try await NetworkNamespace.run { namespace in
            try Self.twoLinks(namespace)
            var settings = ConnectionDetailSettings()
            settings.meteredInterfaces = ["d0"]
            let probe = TraceProbe(settings: settings)
            #expect(probe.wait { $0.fields["is_connection_expensive"] == "true" })
            try namespace.ip("route replace default via 198.51.100.1")
            #expect(probe.wait { $0.fields["is_connection_expensive"] == "false" })
            let (record, _) = probe.finish(in: namespace)
            #expect(record.provenance["is_connection_expensive"] == "no source calls it metered")
        }
    }
}
