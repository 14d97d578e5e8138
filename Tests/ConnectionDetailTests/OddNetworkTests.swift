import CollectorCore
import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import ConnectionDetail

/// Networks that few have, and daemons that do not answer.
struct OddNetworkTests {
    @Test("A whole network that is local has addresses that no link lists: the address is shown, and no prefix length")
    func localNetwork() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            try namespace.ip("route add local 10.9.0.0/16 dev lo")
            let own = TraceProbe(target: "10.9.1.1")
            #expect(own.wait { $0.last != nil })
            #expect(own.fields["type"] == "\"loopback\"" && own.fields["ip_address"] == "\"10.9.1.1\"")
            #expect(own.fields["prefix_length"] == nil)
            #expect(own.finish(in: namespace).record.gaps.isEmpty)
            try namespace.ip("route replace default via 192.0.2.1 src 10.9.5.5")
            let preferred = TraceProbe()
            #expect(preferred.wait { $0.last != nil })
            #expect(preferred.fields["ip_address"] == "\"10.9.5.5\"" && preferred.fields["subnet"] == nil)
            _ = preferred.finish(in: namespace)
        }
    }

    @Test("A link whose name is not UTF-8 has no name in the trace, and everything else")
    func name() async throws {
        try await NetworkNamespace.run { namespace in
            try ChildProcess.run("sh", "-c", "ip link add $(printf 'a\\377b') type veth peer name p0 && ip link set $(printf 'a\\377b') up")
            try namespace.ip("link set p0 up")
            try ChildProcess.run("sh", "-c", "ip addr add 192.0.2.2/24 dev $(printf 'a\\377b')")
            try namespace.ip("route add default via 192.0.2.1")
            let probe = TraceProbe()
            #expect(probe.wait { $0.fields["is_internet_reachable"] == "true" })
            #expect(probe.fields["ip_address"] == "\"192.0.2.2\"" && probe.fields["interface"] == nil)
            _ = probe.finish(in: namespace)
        }
    }

    @Test("A default route to the loopback leads nowhere")
    func defaultToLoopback() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.ip("route add default dev lo")
            let probe = TraceProbe()
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["is_internet_reachable"] == "false")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("A link-local IPv6 target without an interface is one that connect(2) refuses: no path")
    func linkLocalTarget() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let probe = TraceProbe(target: "fe80::1")
            #expect(probe.wait { $0.last != nil })
            #expect(probe.fields["type"] == "\"none\"")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("R-8 R-14 A name that does not resolve: the path to the internet, said to be that, and a gap for the target")
    func unresolved() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let probe = TraceProbe(aim: SessionTarget(host: "no-such.invalid"))
            #expect(probe.wait { $0.last != nil })
            let (record, _) = probe.finish(in: namespace)
            #expect(record.gaps.contains { $0.reason == "target_unresolved" })
            #expect(record.provenance["path"]?.contains("internet") == true)
        }
    }

    @Test("A name that resolves soon: its own path is the first snapshot")
    func resolvedSoon() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            try namespace.ip("route add 203.0.113.0/24 via 192.0.2.9")
            let target = SessionTarget(host: "server.example")
            let probe = TraceProbe(aim: target)
            usleep(50000)
            target.resolve(to: [IPAddress("203.0.113.5")!], at: .now())
            #expect(probe.wait { $0.last != nil })
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(snapshots.first?["gateway"] == .text("192.0.2.9"))
            #expect(record.provenance["path"]?.contains("the target") == true)
        }
    }

    @Test("R-4 P99 A message bus that takes connections and never answers costs the trace a moment, and the test nothing")
    func silentBus() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.oneLink()
            let folder = try TemporaryFolder()
            let path = "\(folder.path)/bus"
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let bound = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            }
            try #require(bound == 0 && listen(listener, 8) == 0)
            var settings = ConnectionDetailSettings()
            settings.busAddress = "unix:path=\(path)"
            let probe = TraceProbe(settings: settings)
            #expect(probe.wait { $0.last != nil })
            try namespace.ip("route replace default via 192.0.2.77")
            #expect(probe.wait { $0.fields["gateway"] == "\"192.0.2.77\"" })
            let (record, _) = probe.finish(in: namespace)
            #expect(record.state == .ok)
        }
    }
}
