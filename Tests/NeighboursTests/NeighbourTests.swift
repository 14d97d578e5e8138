import CollectorCore
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import Neighbours

/// The collector against a real kernel. With a poll of an hour, whatever is seen was told by an event.
struct NeighbourTests {
    @Test(
        "R-48 A neighbour that answers is reachable, and one that is gone has failed",
        arguments: [["192.0.2.1", "203.0.113.9"], ["2001:db8:1::1", "2001:db8:ffff::9"]])
    func answers(addresses: [String]) async throws {
        try await NetworkNamespace.run { namespace in
            let (gateway, target) = (addresses[0], addresses[1])
            let family = gateway.contains(":") ? "ipv6" : "ipv4"
            try namespace.silentLink()
            let peer = try namespace.other()
            defer { peer.signal(SIGKILL); peer.wait() }
            try namespace.ip("link set p0 netns \(peer.pid)")
            func far(_ words: String) throws {
                try ChildProcess.run(["nsenter", "-t", "\(peer.pid)", "-n", "ip"] + words.split(separator: " ").map(String.init))
            }
            try far("addr add \(gateway)/\(family == "ipv6" ? "64 dev p0 nodad" : "24 dev p0")")
            try far("link set p0 up")
            let probe = NeighbourProbe(target)
            #expect(probe.wait { $0.fields["\(family)_state"] == .text("none") })
            try namespace.send(to: gateway)
            #expect(probe.wait { $0.fields["\(family)_state"] == .text("reachable") })
            let seen = probe.snapshots.first { $0["\(family)_state"] == .text("reachable") }
            #expect(seen?["\(family)_is_reachable"] == .bool(true))
            #expect(seen?["\(family)_is_gateway"] == .bool(true))
            #expect(seen?["\(family)_interface"] == .text("d0"))
            guard case .integer(let age) = seen?["\(family)_confirmed_ms"] else { throw LabError("a reachable neighbour without an age") }
            #expect((0..<60000).contains(age))
            try far("addr del \(gateway)/\(family == "ipv6" ? "64" : "24") dev p0")
            // The kernel asks it directly, gets no answer and gives it up.
            try namespace.ip("neigh change \(gateway) dev d0 nud probe")
            #expect(probe.wait { $0.fields["\(family)_state"] == .text("failed") })
            #expect(probe.fields["\(family)_is_reachable"] == .bool(false))
            #expect(probe.snapshots.last?["\(family)_confirmed_ms"] == nil)
            #expect(try namespace.state(of: gateway) == "failed")
            let record = probe.finish(in: namespace)
            #expect(record.state == .ok)
            #expect(record.withheld.isEmpty && record.rejected.isEmpty)
        }
    }

    @Test("R-12 Every state that can be set is told as it is, and so is the end of the entry", arguments: ["192.0.2.1", "2001:db8:1::1"])
    func states(gateway: String) async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            let family = gateway.contains(":") ? "ipv6" : "ipv4"
            let probe = NeighbourProbe(family == "ipv6" ? "2001:db8:ffff::9" : "203.0.113.9")
            #expect(probe.wait { $0.fields["\(family)_state"] == .text("none") })
            for state in ["permanent", "stale", "noarp", "reachable", "permanent"] {
                try namespace.neighbour(gateway, state)
                #expect(probe.wait { $0.fields["\(family)_state"] == .text(state) }, "\(state)")
                #expect(probe.fields["\(family)_is_reachable"] == (state == "reachable" ? .bool(true) : nil), "\(state)")
                #expect((probe.snapshots.last?["\(family)_confirmed_ms"] != nil) == (state == "reachable"), "\(state)")
            }
            try namespace.ip("neigh del \(gateway) dev d0")
            #expect(probe.wait { $0.fields["\(family)_state"] != .text("permanent") })
            #expect(probe.wait { $0.fields["\(family)_state"] == .text("none") })
            #expect(probe.finish(in: namespace).state == .ok)
        }
    }

    @Test("R-12 The poll sees what the kernel tells nobody: the search for a neighbour begins")
    func incomplete() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            // The search goes on for the whole test.
            try ChildProcess.run("sh", "-c", "echo 10000 > /proc/sys/net/ipv4/neigh/d0/mcast_solicit")
            let probe = NeighbourProbe("192.0.2.77", pollInterval: .milliseconds(20))
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("none") })
            try namespace.send(to: "192.0.2.77")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("incomplete") })
            #expect(probe.fields == ["ipv4_state": .text("incomplete"), "ipv4_is_gateway": .bool(false), "ipv4_interface": .text("d0")])
            // The kernel gives a new entry a date of confirmation, which is none.
            #expect(probe.snapshots.last?["ipv4_confirmed_ms"] == nil)
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-12 R-13 Another gateway is followed, and so are the events of its neighbour")
    func gatewayChange() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            try namespace.neighbour("192.0.2.1", "permanent")
            try namespace.neighbour("192.0.2.9", "stale")
            let probe = NeighbourProbe("203.0.113.9")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") })
            try namespace.ip("route replace default via 192.0.2.9")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("stale") })
            try namespace.neighbour("192.0.2.9", "noarp")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("noarp") })
            // A route to the target's own network has no gateway.
            try namespace.ip("route add 203.0.113.0/24 dev d0")
            #expect(probe.wait { $0.fields["ipv4_is_gateway"] == .bool(false) })
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("none") })
            // IPv4 by way of an IPv6 neighbour (RFC 5549).
            try namespace.neighbour("fe80::9", "permanent")
            try namespace.ip("route replace 203.0.113.0/24 via inet6 fe80::9 dev d0")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") })
            #expect(probe.fields["ipv4_is_gateway"] == .bool(true))
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-8 Without a path nothing is recorded, and the record says why and how long")
    func noPath() async throws {
        try await NetworkNamespace.run { namespace in
            let probe = NeighbourProbe("203.0.113.9")
            #expect(probe.wait { $0.state == "no_path" })
            #expect(probe.snapshots.isEmpty)
            try namespace.silentLink()
            try namespace.neighbour("192.0.2.1", "permanent")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") })
            #expect(probe.state == "ok")
            try namespace.ip("route replace unreachable default")
            #expect(probe.wait { $0.state == "no_path" })
            try namespace.ip("route replace default via 192.0.2.1")
            #expect(probe.wait { $0.state == "ok" })
            // A link whose far end is down carries nothing.
            try namespace.ip("link set p0 down")
            #expect(probe.wait { $0.state == "no_path" })
            let record = probe.finish(in: namespace)
            #expect(record.gaps.map(\.reason) == ["no_path", "no_path", "no_path"])
            #expect(record.state == .ok)
        }
    }

    @Test("R-8 Links that resolve nothing are noarp: loopback, and a device that says so")
    func noResolution() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            let own = NeighbourProbe("192.0.2.2")
            #expect(own.wait { !$0.snapshots.isEmpty })
            #expect(own.fields == ["ipv4_state": .text("noarp"), "ipv4_is_gateway": .bool(false), "ipv4_interface": .text("lo")])
            _ = own.finish(in: namespace)
            let probe = NeighbourProbe("203.0.113.9")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("none") })
            try namespace.ip("link set d0 arp off")
            try namespace.ip("route replace default via 192.0.2.1")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("noarp") })
            _ = probe.finish(in: namespace)
        }
    }
}
