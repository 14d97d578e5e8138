import CollectorCore
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import Neighbours

/// The collector beside a test: its target, lost events, what it costs, and a long walk.
struct SessionTests {
    @Test("R-48 A target's name is waited for, and both its families are then recorded")
    func lateTarget() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            try namespace.neighbour("192.0.2.1", "permanent")
            try namespace.neighbour("2001:db8:1::1", "stale")
            let target = SessionTarget(host: "server.example")
            let probe = NeighbourProbe(target)
            #expect(probe.wait { $0.state == "target_unresolved" })
            #expect(probe.snapshots.isEmpty)
            target.resolve(to: ["203.0.113.9", "2001:db8:ffff::9"].map { IPAddress($0)! }, at: .now())
            #expect(probe.wait { $0.snapshots.count == 1 })
            #expect(
                probe.fields == [
                    "ipv4_state": .text("permanent"), "ipv4_is_gateway": .bool(true), "ipv4_interface": .text("d0"),
                    "ipv6_state": .text("stale"), "ipv6_is_gateway": .bool(true), "ipv6_interface": .text("d0"),
                ])
            // Its neighbours' events come through now.
            try namespace.neighbour("2001:db8:1::1", "permanent")
            #expect(probe.wait { $0.fields["ipv6_state"] == .text("permanent") })
            // A family whose path ends is left out, and the other one stays.
            try namespace.ip("-6 route del default")
            #expect(probe.wait { $0.fields["ipv6_state"] == nil })
            #expect(probe.fields["ipv4_state"] == .text("permanent"))
            let record = probe.finish(in: namespace)
            #expect(record.state == .ok)
            #expect(record.gaps.map(\.reason) == ["target_unresolved"])
        }
    }

    @Test("R-48 Without a target the next hop towards the internet is looked at")
    func noTarget() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            try namespace.neighbour("192.0.2.1", "permanent")
            let probe = NeighbourProbe(SessionTarget())
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") && $0.fields["ipv6_state"] == .text("none") })
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-13 Lost events are a gap, are healed by asking again, and end nothing")
    func overrun() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            try namespace.neighbour("192.0.2.1", "permanent")
            let probe = NeighbourProbe("203.0.113.9", receiveBuffer: 2048)
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") })
            for round in 0..<3 {
                let before = probe.snapshots.count
                // The collector's thread stands still while the kernel has more to tell than the socket holds.
                probe.hold(true)
                try namespace.neighbour("192.0.2.1", "noarp")
                #expect(probe.wait { $0.snapshots.count > before })
                try namespace.batch((0..<60).map { "link add f\(round)x\($0) type ifb" })
                try namespace.neighbour("192.0.2.1", "permanent")
                probe.hold(false)
                #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") })
            }
            let record = probe.finish(in: namespace)
            #expect(record.state == .ok)
            #expect(record.gaps.contains { $0.reason == "event_loss" })
            #expect((1..<20).contains(record.resyncs))
        }
    }

    @Test("R-3 What happens to other neighbours, and to routes elsewhere, does not even wake it")
    func others() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            try namespace.neighbour("192.0.2.1", "permanent")
            let probe = NeighbourProbe("203.0.113.9")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("permanent") })
            for state in ["permanent", "stale"] {
                try namespace.batch(
                    (0..<1000).map { "neigh replace 192.0.2.\($0 % 200 + 10) lladdr 02:00:00:00:00:05 dev d0 nud \(state)" })
            }
            try namespace.batch((0..<1000).map { "route add 11.\($0 >> 8).\($0 & 255).0/24 via 192.0.2.1" })
            try namespace.neighbour("192.0.2.1", "noarp")
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("noarp") })
            let record = probe.finish(in: namespace)
            #expect(record.recorded == 2)
            // A look at the start, and a few for the settling of the set-up.
            #expect(record.suppressed < 10)
        }
    }

    @Test("R-48 Asking sends nothing, and makes the kernel look for nobody")
    func silent() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.ip("link add d0 type veth peer name p0")
            // Without link-local addresses the link is silent by itself.
            for name in ["d0", "p0"] {
                try namespace.ip("link set \(name) addrgenmode none")
                try namespace.ip("link set \(name) up")
            }
            try namespace.ip("addr add 192.0.2.2/24 dev d0")
            try namespace.ip("route add default via 192.0.2.1")
            func sent() throws -> Int64? {
                try JSONValue(parsing: namespace.ip("-j -s link show d0"))[0]?["stats64"]?["tx"]?["packets"]?.int64
            }
            let before = try sent()
            #expect(before != nil)
            let probe = NeighbourProbe("203.0.113.9", pollInterval: .milliseconds(5))
            #expect(probe.wait { $0.fields["ipv4_state"] == .text("none") })
            usleep(200_000)
            let record = probe.finish(in: namespace)
            #expect(record.suppressed > 0)
            #expect(try sent() == before)
            #expect(try JSONValue(parsing: namespace.ip("-j neigh show dev d0 nud all")).array?.isEmpty == true)
        }
    }

    @Test("R-12 R-13 After each step of a random walk the trace says what ip says", arguments: 0..<4 as Range<UInt64>)
    func walk(seed: UInt64) async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.silentLink()
            let probe = NeighbourProbe("203.0.113.9")
            let gateways = ["192.0.2.1", "192.0.2.9"]
            var random = Walk(state: seed)
            var gateway = gateways[0]
            var isUp = true
            for step in 0..<40 {
                let one = gateways[random.next(2)]
                switch random.next(6) {
                case 0:
                    try namespace.ip("link set p0 \(isUp ? "down" : "up")")
                    isUp.toggle()
                case 1:
                    gateway = one
                    try namespace.ip("route replace default via \(gateway)")
                // Refused where there is no entry.
                case 2: _ = try? namespace.ip("neigh del \(one) dev d0")
                default: try namespace.neighbour(one, ["permanent", "stale", "noarp", "reachable"][random.next(4)])
                }
                let agrees = try probe.wait { probe in
                    guard isUp else { return probe.state == "no_path" }
                    return try probe.state != "no_path" && probe.fields["ipv4_state"] == .text(namespace.state(of: gateway))
                }
                try #require(agrees, "seed \(seed), step \(step): \(probe.state ?? "-"), \(probe.fields)")
            }
            #expect(probe.finish(in: namespace).state == .ok)
        }
    }

    /// Numbers that are the same for the same seed (the constants are those of splitmix64).
    private struct Walk {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
        }
    }
}
