import Glibc
import LabSupport
import MeasurementModel
import Testing

/// `fieldprobe` on a terminal, and the command's own terminal behind it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct TerminalTests {
    private static let check = "for fd in 0 1 2; do test -t $fd && printf T || printf N; done; stty size <&1"

    @Test func theCommandHasATerminalWhereWeHaveOne() async throws {
        let (shown, status) = try await Program.onTerminal(["run", "--unregistered", "--quiet", "--", "sh", "-c", Self.check])
        #expect(shown == "TTT33 99\r\n")
        #expect(status == 0)
    }

    @Test func onlyWhereWeHaveOne() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/out"
        let line = "\(Program.path) run --unregistered --quiet -- sh -c 'test -t 1 && echo T || echo N; test -t 2 && echo T >&2' > \(file)"
        let (shown, _) = try await Program.onTerminal(["run", "--unregistered", "--quiet", "--", "sh", "-c", line])
        #expect(TemporaryFolder.read(file) == "N\n")
        #expect(shown == "T\r\n")
    }

    @Test func theWindowsSizeFollows() async throws {
        // The first SIGWINCH comes from the outer terminal, maybe before the inner one has its new size; the second comes after.
        let script = """
            exec 3>&1; trap 'size=$(stty size <&3); echo "size $size"; test "$size" = "44 111" && exit 0' WINCH
            echo ready; while :; do sleep 0.05; done
            """
        let (shown, status) = try await Program.onTerminal(
            ["run", "--unregistered", "--quiet", "--", "sh", "-c", script], steps: "wait('ready'); time.sleep(0.3); resize(44, 111)")
        #expect(shown.contains("size 44 111"))
        #expect(status == 0)
    }

    @Test func interruptReachesTheCommandAndTheReportIsWritten() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let script = "trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done"
        let (shown, status) = try await Program.onTerminal(
            ["run", "--unregistered", "--quiet", "--output", file, "--", "sh", "-c", script], steps: "wait('ready'); send(b'\\x03')")
        // Once: the terminal told the command, and so did not we.
        #expect(shown.components("interrupted") == 1)
        #expect(status == 7)
        let report = try JSONValue(parsing: #require(TemporaryFolder.read(file)))
        #expect(report["finished_reason"]?.string == "aborted")
    }

    @Test func quitWithoutATrapIsTheCommandsDeath() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let (_, status) = try await Program.onTerminal(
            ["run", "--unregistered", "--quiet", "--output", file, "--", "sh", "-c", "echo ready; exec sleep 60"], steps: "wait('ready'); send(b'\\x1c')")
        #expect(status == 128 + SIGQUIT)
        #expect(TemporaryFolder.read(file)?.contains("SIGQUIT") == true)
    }

    /// Job control: Ctrl-Z stops the whole group, and a shell's `fg` wakes it.
    @Test func stopAndContinue() async throws {
        let line = "set -m; '\(Program.path)' run --unregistered --quiet -- sh -c 'echo ready; sleep 1; echo done'; echo stopped $?; fg; echo over $?"
        let (shown, _) = try await Program.onTerminal(
            ["--norc", "-c", line], program: "/bin/bash", steps: "wait('ready'); send(b'\\x1a'); wait('over')")
        #expect(shown.contains("stopped 148"))
        #expect(shown.contains("done"))
        #expect(shown.contains("over 0"))
    }

    @Test func coloursOnlyOnATerminalAndNotWithNoColor() async throws {
        let (coloured, _) = try await Program.onTerminal(["doctor"])
        #expect(coloured.contains("\u{1B}[3"))
        let (plain, _) = try await Program.onTerminal(["doctor"], environment: ["NO_COLOR": "1"])
        #expect(!plain.contains("\u{1B}"))
        let (dumb, _) = try await Program.onTerminal(["doctor"], environment: ["TERM": "dumb"])
        #expect(!dumb.contains("\u{1B}"))
        #expect(try await !Program.run("doctor").output.contains("\u{1B}"))
    }

    @Test func largeOutputArrivesWhole() async throws {
        let (shown, status) = try await Program.onTerminal(["run", "--unregistered", "--quiet", "--", "seq", "20000"])
        #expect(status == 0)
        #expect(shown.hasSuffix("\r\n19999\r\n20000\r\n"))
        #expect(shown.utf8.count == 108_894 + 20_000)
    }
}

extension String {
    fileprivate func components(_ part: String) -> Int { ranges(of: part).count }
}
