import CLinux
import CollectorCore
import ConnectionDetail
import Glibc
import LabSupport
import MeasurementModel
import Testing

/// A network that changes at random, with the collector beside it and `ip -j` as the oracle.
///
/// `FIELDPROBE_SEED` repeats a walk, `FIELDPROBE_WALK_STEPS` changes its length.
struct RandomWalkTests {
    @Test("R-11 to R-15: after every settled step of a random walk the last snapshot equals what ip says")
    func walk() async throws {
        let steps = getenv("FIELDPROBE_WALK_STEPS").flatMap { Int(String(cString: $0)) } ?? 2000
        let seed = getenv("FIELDPROBE_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0..<1 << 32)
        print("random walk: seed \(seed), \(steps) steps")
        let mismatches = try await NetworkNamespace.run { namespace in
            var walk = try RandomWalk(namespace: namespace, seed: seed)
            return try walk.run(steps: steps)
        }
        print("random walk: seed \(seed), \(steps) steps, \(mismatches.count) mismatches")
        #expect(mismatches == [], "seed \(seed)")
    }
}

/// SplitMix64, so that a seed gives the same walk everywhere.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

private struct RandomWalk {
    static let targets = ["203.0.113.9", "2001:db8:ffff::9"]
    static let peer = "198.18.0.1"

    let namespace: NetworkNamespace
    let oracle: Oracle
    let tap: ChildProcess
    let other: ChildProcess
    var random: SeededGenerator
    /// The current name of each link, by its number.
    var names: [String]
    var renames = 0

    init(namespace: NetworkNamespace, seed: UInt64) throws {
        self.namespace = namespace
        oracle = Oracle(namespace: namespace, tunnelPeers: ["tap0": Self.peer])
        random = SeededGenerator(state: seed)
        names = (0..<4).map { "d\($0)" }
        // Duplicate address detection would let addresses change by themselves for seconds.
        for scope in ["all", "default"] {
            try Self.set("net/ipv6/conf/\(scope)/dad_transmits", "0")
            try Self.set("net/ipv6/conf/\(scope)/accept_dad", "0")
            try Self.set("net/ipv6/conf/\(scope)/use_tempaddr", "2")
        }
        tap = try namespace.tap("tap0")
        other = try namespace.other()
        for number in names.indices { try makeLink(number) }
        try namespace.ip("addr add 10.77.0.2/24 dev tap0")
    }

    private static func set(_ key: String, _ value: String) throws {
        let descriptor = clinux_open("/proc/sys/\(key)", O_WRONLY, 0)
        guard descriptor >= 0 else { throw LabError("cannot set \(key)") }
        write(descriptor, value, value.utf8.count)
        close(descriptor)
    }

    private func makeLink(_ number: Int) throws {
        try namespace.veth(names[number], peer: "p\(number)")
        try namespace.ip("addr add 10.\(number).0.2/24 dev \(names[number])")
        try namespace.ip("addr add 2001:db8:\(number)::2/64 dev \(names[number]) nodad")
    }

    mutating func run(steps: Int) throws -> [String] {
        defer {
            for child in [tap, other] {
                child.signal(SIGKILL)
                child.wait()
            }
        }
        var settings = ConnectionDetailSettings()
        settings.tunnelPeers = ["tap0": IPAddress(Self.peer)!]
        let probe = TraceProbe(target: Self.targets[0], settings: settings, also: [Self.targets[1]])
        var mismatches: [String] = []
        for step in 0..<steps {
            let action = act()
            if let mismatch = try compare(probe) { mismatches.append("step \(step), \(action): \(mismatch)") }
            // A wrong snapshot that comes late would be corrected by the next step: sometimes the walk waits for it.
            if step % 25 == 0 {
                probe.settle()
                if let mismatch = try compare(probe) { mismatches.append("after step \(step), \(action): \(mismatch)") }
            }
            if mismatches.count > 5 { break }
        }
        let (record, snapshots) = probe.finish(in: namespace)
        print("random walk: \(snapshots.count) snapshots, \(Self.summary(snapshots))")
        if record.state != .ok { mismatches.append("the collector ended \(record.state) \(record.detail ?? "")") }
        return mismatches
    }

    /// Nil when snapshot and oracle agree within three seconds.
    private func compare(_ probe: TraceProbe) throws -> String? {
        var expected: [String: String] = [:]
        for _ in 0..<120 {
            expected = try oracle.fields(targets: Self.targets)
            for _ in 0..<5 {
                if probe.fields == expected { return nil }
                usleep(4000)
            }
        }
        let names = Set(expected.keys).union(probe.fields.keys).sorted().filter { expected[$0] != probe.fields[$0] }
        return names.map { "\($0): recorded \(probe.fields[$0] ?? "nothing"), ip says \(expected[$0] ?? "nothing")" }.joined(
            separator: "; ")
    }

    /// How often each kind of outcome was seen: a walk that only ever saw one would prove little.
    private static func summary(_ snapshots: [Snapshot]) -> String {
        var counts: [String: Int] = [:]
        for snapshot in snapshots {
            let type = snapshot["type"]?.text ?? "?"
            counts["\(type) \(snapshot["is_internet_reachable"] == .bool(true) ? "usable" : "unusable")", default: 0] += 1
            if snapshot["ipv6_address"] != nil { counts["both families", default: 0] += 1 }
            if snapshot["underlay_interface"] != nil { counts["underlay", default: 0] += 1 }
        }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    // MARK: What can happen

    private mutating func act() -> String {
        let number = Int.random(in: names.indices, using: &random)
        let name = names[number]
        let small = Int.random(in: 2..<6, using: &random)
        let metric = [0, 0, 50, 100, 600].randomElement(using: &random)!
        let table = [100, 101].randomElement(using: &random)!
        let commands: [String]
        switch Int.random(in: 0..<40, using: &random) {
        case 0: commands = ["addr add 10.\(number).\(small).2/\([16, 24, 25, 30].randomElement(using: &random)!) dev \(name)"]
        case 1: commands = ["addr del 10.\(number).0.2/24 dev \(name)"]
        case 2, 37: commands = ["addr add 10.\(number).0.2/24 dev \(name)"]
        case 3: commands = ["addr add 2001:db8:\(number)::\(small)/64 dev \(name) nodad"]
        case 4: commands = ["addr del 2001:db8:\(number)::\(small)/64 dev \(name)"]
        case 5: commands = ["addr change 2001:db8:\(number)::\(small)/64 dev \(name) preferred_lft 0 valid_lft forever"]
        case 6: commands = ["addr change 2001:db8:\(number)::\(small)/64 dev \(name) preferred_lft forever valid_lft forever"]
        case 7: commands = ["addr add 2001:db8:\(number)\(small)::1/64 dev \(name) nodad mngtmpaddr preferred_lft 3000 valid_lft 3600"]
        case 8: commands = ["addr del 2001:db8:\(number)\(small)::1/64 dev \(name)"]
        case 9: commands = ["link set \(name) down"]
        case 10, 11, 38: commands = ["link set \(name) up"]
        case 12: commands = ["link set p\(number) down"]
        case 13, 39: commands = ["link set p\(number) up"]
        case 14: commands = rename(number)
        case 15: return recreate(number)
        case 16: return move(number)
        case 17, 18, 31, 32: commands = ["route replace default via 10.\(number).0.1 dev \(name) metric \(metric) onlink"]
        case 19: commands = ["route del default"]
        case 20, 21, 33, 34: commands = ["-6 route replace default via 2001:db8:\(number)::ffff dev \(name) metric \(metric + 1) onlink"]
        case 22: commands = ["-6 route del default"]
        case 23:
            let rule = ["to 203.0.113.0/24", "from 10.\(number).0.2", "not fwmark 7"].randomElement(using: &random)!
            commands = ["rule add \(rule) table \(table) priority \(1000 + small)"]
        case 24: commands = ["rule del priority \(1000 + small)"]
        case 25: commands = ["-6 rule add to 2001:db8:ffff::/48 table \(table) priority \(1000 + small)"]
        case 26: commands = ["-6 rule del priority \(1000 + small)"]
        case 27:
            commands = ["route replace default via 10.\(number).0.1 dev \(name) table \(table) onlink", "link set \(name) mtu 1\(small)00"]
        case 28:
            let kind = ["unreachable 203.0.113.0/24", "blackhole 203.0.113.8/29", "203.0.113.0/28 via 10.\(number).0.9 dev \(name) onlink"]
            let verb = Bool.random(using: &random) ? "replace" : "del"
            commands = ["route \(verb) \(kind.randomElement(using: &random)!)"]
        case 29, 35, 36:
            commands = ["route replace default dev tap0", "route replace \(Self.peer) via 10.\(number).0.1 dev \(name) onlink"]
        default: commands = ["-6 route replace default via 2001:db8:\(number)::ffff dev \(name) table \(table) onlink"]
        }
        // What does not fit the present state is refused by the kernel, and is a step without a change.
        for command in commands { _ = try? namespace.ip(command) }
        return commands.joined(separator: ", ")
    }

    private mutating func rename(_ number: Int) -> [String] {
        renames += 1
        let new = "n\(number)x\(renames)"
        let commands = ["link set \(names[number]) name \(new)"]
        names[number] = new
        return commands
    }

    private mutating func recreate(_ number: Int) -> String {
        _ = try? namespace.ip("link del \(names[number])")
        _ = try? makeLink(number)
        return "delete and make \(names[number]) again"
    }

    private mutating func move(_ number: Int) -> String {
        _ = try? namespace.ip("link set \(names[number]) netns \(NetworkNamespace.path(of: other))")
        // Its end here goes with the new pair's name; the moved one keeps its name in the other namespace.
        _ = try? namespace.ip("link del p\(number)")
        renames += 1
        names[number] = "d\(number)y\(renames)"
        _ = try? makeLink(number)
        return "move a link away, make \(names[number])"
    }
}
