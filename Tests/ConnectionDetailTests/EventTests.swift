import CLinux
import CollectorCore
import ConnectionDetail
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import ConnectionDetail

/// Events: what wakes the collector, what does not, and what happens when the kernel drops some.
struct EventTests {
    @Test("P1 P2 P7 M8 R-13 An overrun is a gap, is healed by asking again, and ends nothing")
    func overrun() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            var settings = ConnectionDetailSettings()
            settings.receiveBuffer = 2048
            let probe = TraceProbe(settings: settings)
            #expect(probe.wait { $0.last != nil })
            probe.settle()
            for round in 0..<3 {
                // The collector's thread stands still in its observer while the kernel has more to tell than the socket holds.
                probe.gate.close()
                try namespace.ip("addr add 192.0.2.\(100 + round)/24 dev d0")
                try namespace.ip("link set d0 mtu \(1400 - round)")
                usleep(20000)
                try namespace.batch((0..<60).map { "link add f\(round)x\($0) type ifb" })
                try namespace.ip("route replace default via 192.0.2.\(10 + round)")
                probe.gate.open()
                #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.\(10 + round)\"" })
                #expect(probe.fields["mtu"] == "\(1400 - round)")
            }
            let (record, _) = probe.finish(in: namespace)
            #expect(record.state == .ok)
            #expect(record.gaps.contains { $0.reason == "event_loss" })
            #expect(record.resyncs >= 1)
            // Once per episode and not once per read.
            #expect(record.resyncs < 20)
            #expect(record.gaps.allSatisfy { $0.from <= $0.to! })
        }
    }

    @Test("P3 P5 A reader that was held up for long still ends with the right state")
    func heldUp() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            probe.gate.close()
            try namespace.ip("link set d0 mtu 1400")
            try namespace.batch((0..<500).map { "link set d0 mtu \(1300 + $0 % 100)" })
            try namespace.ip("route replace default via 192.0.2.77")
            probe.gate.open()
            #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.77\"" })
            probe.settle()
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(snapshots.last?["mtu"] == .integer(1399))
            #expect(record.state == .ok)
        }
    }

    @Test("R-12 P4 A storm of changes is coalesced, and its end is right")
    func storm() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            try namespace.batch((0..<2000).map { "route replace default via 192.0.2.\($0 % 200 + 3)" })
            #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.202\"" })
            probe.settle()
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(snapshots.last?["gateway"] == .text("192.0.2.202"))
            // Far fewer looks than changes: the first at once, then at most two in a second, then the settled one.
            #expect(record.recorded + record.suppressed < 200)
        }
    }

    @Test("M5 P31 Renewed lifetimes are no snapshot, and not even a question")
    func lifetimes() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 2001:db8:1::2/64 dev d0 nodad valid_lft 9000 preferred_lft 8000")
            try namespace.ip("-6 route add default via 2001:db8:1::1")
            let probe = TraceProbe(target: "2001:db8:ffff::1")
            #expect(probe.wait { $0.fields["ip_address"] != nil })
            // The first event about an address is news to a memory that starts empty.
            try namespace.ip("addr change 2001:db8:1::2/64 dev d0 valid_lft 8999 preferred_lft 7999")
            probe.settle()
            let before = probe.snapshots.count
            try namespace.batch((0..<100).map { "addr change 2001:db8:1::2/64 dev d0 valid_lft \(5000 + $0) preferred_lft \(4000 + $0)" })
            probe.settle()
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(snapshots.count == before)
            // One look at the start, a few for the settling of the set-up; none for the hundred renewals.
            #expect(record.suppressed < 10)
        }
    }

    @Test("P17 An interface that turns promiscuous and back a thousand times is no snapshot")
    func promiscuous() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            probe.settle()
            try namespace.batch((0..<1000).map { "link set d0 promisc \($0 % 2 == 0 ? "on" : "off")" })
            probe.settle()
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(snapshots.count == 1)
            #expect(record.suppressed < 10)
        }
    }

    @Test("P16 M11 Twenty thousand routes to elsewhere wake nobody, and the one that matters is seen")
    func irrelevantRoutes() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            probe.settle()
            try namespace.batch((0..<20000).map { "route add 11.\($0 >> 8).\($0 & 255).0/24 via 192.0.2.1" })
            probe.settle()
            #expect(probe.snapshots.count == 1)
            try namespace.ip("route add 203.0.113.0/28 via 192.0.2.66")
            #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.66\"" })
            let (record, _) = probe.finish(in: namespace)
            #expect(record.suppressed < 10)
            #expect(record.gaps.isEmpty)
        }
    }

    /// The kernel's table would be tens of megabytes; how long it takes to read, `make bench` shows.
    @Test("P18 With 200,000 routes loaded the first snapshot needs one of them: nothing dumps the table")
    func loadedTable() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            try namespace.batch((0..<200_000).map { "route add 11.\($0 >> 14).\($0 >> 6 & 255).\(($0 & 63) * 4)/30 via 192.0.2.1" })
            let folder = try TemporaryFolder()
            let log = "\(folder.path)/log"
            // -D: the process is the program itself, and gets the signal.
            let watch = try ChildProcess(
                [
                    "strace", "-D", "-f", "-qq", "-o", log, "-e", "trace=recvmsg,recvmmsg,recvfrom", Lab.built("fieldprobe"), "watch",
                    "--json", "--duration", "60s",
                ])
            while let line = watch.readLine(), !line.contains(#""gateway":"192.0.2.1""#) {}
            watch.signal(SIGINT)
            #expect(watch.wait() == 0)
            let calls = (TemporaryFolder.read(log) ?? "").split(separator: "\n").filter {
                $0.contains("recv") && !$0.contains("<unfinished")
            }
            let octets = calls.compactMap { $0.split(separator: " = ").last?.split(separator: " ").first.flatMap { Int($0) } }
            #expect(octets.count > 3, "strace has seen nothing")
            #expect(octets.filter { $0 > 0 }.reduce(0, +) < 1 << 20)
        }
    }

    @Test("M9 P10 P11 While links are made and deleted without end, the start is in time and the end is right")
    func interruptedDumps() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            try namespace.batch((0..<300).map { "addr add 10.1.\($0 / 200).\($0 % 200 + 1)/32 dev d0" })
            let churn = try ChildProcess([
                "sh", "-c",
                "while :; do ip link add z0 type veth peer name z1; ip addr add 10.9.9.9/32 dev d0; ip addr del 10.9.9.9/32 dev d0;"
                    + " ip link del z0; done 2>/dev/null",
            ])
            defer { churn.signal(SIGKILL); churn.wait() }
            for round in 0..<20 {
                let probe = TraceProbe()
                #expect(probe.wait { $0.last != nil })
                try namespace.ip("route replace default via 192.0.2.\(20 + round)")
                #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.\(20 + round)\"" })
                let (record, _) = probe.finish(in: namespace)
                #expect(record.state == .ok)
            }
        }
    }

    @Test("P13 An address that is added around the start is never missed", arguments: 0..<5)
    func startRace(part: Int) async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            for round in 0..<100 {
                let address = "192.0.2.\(round + 2)"
                let probe = TraceProbe(target: "192.0.2.250")
                usleep(UInt32.random(in: 0...20000))
                try namespace.ip("addr add \(address)/24 dev d0")
                #expect(probe.wait { $0.fields["ip_address"] == "\"\(address)\"" })
                _ = probe.finish(in: namespace)
                try namespace.ip("addr del \(address)/24 dev d0")
            }
        }
    }

    @Test("P14 R-3 Five hundred tests leave no thread and no descriptor behind")
    func nothingLeft() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            _ = TraceProbe().finish(in: namespace)
            let mine = {
                Set(namesInFolder("/proc/self/fd").compactMap { Self.link("/proc/self/fd/\($0)") }.filter { $0.hasPrefix("socket:") })
            }
            let before = (mine().count, Self.collectorThreads())
            for _ in 0..<500 { _ = TraceProbe().finish(in: namespace) }
            // Other tests run beside this one and have sockets and threads of their own: five hundred leaks would stand out.
            #expect(mine().count < before.0 + 100)
            #expect(Self.collectorThreads() < before.1 + 100)
        }
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func collectorThreads() -> Int { namesInFolder("/proc/self/task").count }

    @Test("The target's name is resolved while the test runs: the question follows it")
    func lateTarget() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            try namespace.veth("d1", peer: "p1")
            try namespace.ip("addr add 198.51.100.2/24 dev d1")
            try namespace.ip("route add 203.0.113.0/24 via 198.51.100.1")
            let target = SessionTarget(host: "server.example")
            let probe = TraceProbe(aim: target)
            #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.1\"" })
            target.resolve(to: [IPAddress("203.0.113.5")!], at: .now())
            #expect(probe.wait { $0.fields["gateway"] == "\"198.51.100.1\"" })
            // Its routes matter now: the socket's filter has followed.
            try namespace.ip("route replace 203.0.113.0/24 via 198.51.100.9")
            #expect(probe.wait { $0.fields["gateway"] == "\"198.51.100.9\"" })
            let (_, snapshots) = probe.finish(in: namespace)
            let gateways = snapshots.map { $0["gateway"] }
            #expect(gateways == [.text("192.0.2.1"), .text("198.51.100.1"), .text("198.51.100.9")])
        }
    }
}
