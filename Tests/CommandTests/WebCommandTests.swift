import Glibc
import LabSupport
import MeasurementModel
import Testing

/// `fieldprobe web`.
@Suite struct WebCommandTests {
    @Test func aPageAsATest() async throws {
        try await LoopbackServer.run { connection in
            while connection.readRequest() != nil, connection.respond(body: "hello") {}
        } test: { server in
            let url = "http://127.0.0.1:\(server.port)/"
            let outcome = try await Program.run("web", "--unregistered", "--json", url)
            #expect(outcome.status == 0)
            #expect(outcome.json?["type"]?.string == "WEB")
            #expect(outcome.json?["subject"]?.string == "website")
            #expect(outcome.json?["target"]?["host"]?.string == "127.0.0.1")
            #expect(outcome.json?["result"]?["pages"]?[0]?["status"]?.int64 == 200)
            let shown = try await Program.run("web", "--unregistered", url)
            #expect(shown.output.contains("Test WEB/website, completed"))
            let wrongFamily = try await Program.run("web", "--unregistered", "--ipv6", "--json", url)
            #expect(wrongFamily.status == 1)
        }
    }

    @Test func whatIsNotFetchedShowsInTheStatus() async throws {
        let outcome = try await Program.run("web", "--unregistered", "--json", "http://no-such-host.invalid/")
        #expect(outcome.status == 1)
        #expect(outcome.json?["finished_reason"]?.string == "failed")
        #expect(outcome.json?["result"]?["pages"]?[0]?["error"]?["code"]?.string == "name_not_resolved")
    }

    @Test func aServerThatHangsIsGivenUp() async throws {
        try await LoopbackServer.run {
            $0.hang()
        } test: { server in
            let outcome = try await Program.run("web", "--unregistered", "--json", "--timeout", "300ms", server.url)
            #expect(outcome.status == 1)
            #expect(outcome.json?["result"]?["pages"]?[0]?["error"]?["code"]?.string == "timed_out")
        }
    }

    @Test func anInterruptedTestLeavesItsReport() async throws {
        try await LoopbackServer.run {
            $0.hang()
        } test: { server in
            let folder = try TemporaryFolder()
            let file = "\(folder.path)/out"
            async let ended = Program.shell(
                """
                env --default-signal=INT "$0" web --unregistered --json \(server.url) > \(file) &
                pid=$!
                while [ ! -e \(folder.path)/now ]; do sleep 0.05; done
                kill -INT $pid
                wait $pid
                echo "status $?"
                """)
            while server.connections < 1 { try await Task.sleep(for: .milliseconds(20)) }
            try folder.write("now", "")
            #expect(try await ended.output == "status 130\n")
            let report = try JSONValue(parsing: #require(TemporaryFolder.read(file)))
            #expect(report["finished_reason"]?.string == "aborted")
        }
    }

    /// Giving up on a resolver that never answers does not wait for it.
    @Test(.enabled("needs root for a mount namespace") { Self.isRoot }, .timeLimit(.minutes(3)))
    func aResolverThatHangs() async throws {
        let folder = try TemporaryFolder()
        let resolver = try folder.write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
        let script = """
            import socket, subprocess, sys
            hole = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            hole.bind(("127.0.0.1", 53))
            sys.exit(subprocess.run([sys.argv[1], "web", "--unregistered", "--json", "--timeout", "500ms", "http://somewhere.example/"]).returncode)
            """
        let driver = try folder.write("hole.py", script)
        let begin = MonotonicInstant.now()
        let outcome = try await Program.shell(
            "exec unshare -m -n sh -c 'mount --bind \(resolver) /etc/resolv.conf && ip link set lo up && exec python3 \(driver) \"$0\"' \"$0\""
        )
        #expect(outcome.status == 1)
        #expect(outcome.json?["result"]?["pages"]?[0]?["error"]?["phase"]?.string == "name_lookup")
        #expect(MonotonicInstant.now() - begin < .seconds(100))
    }

    private static var isRoot: Bool { getuid() == 0 }
}
