import Glibc
import LabSupport
import MeasurementModel
import QualityTests
import Testing

/// `fieldprobe run`: a command that does not notice that it is measured.
@Suite(.serialized, .timeLimit(.minutes(2))) struct RunTests {
    @Test(arguments: [0, 1, 3, 119, 127, 255] as [Int32])
    func exitStatusIsTheCommands(_ status: Int32) async throws {
        let outcome = try await Program.run("run", "--unregistered", "--quiet", "--", "sh", "-c", "exit \(status)")
        #expect(outcome.ending == .exited(status))
        #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
    }

    @Test(arguments: [SIGKILL, SIGTERM, SIGINT, SIGSEGV, SIGUSR1])
    func deathBySignalIsTheCommands(_ signal: Int32) async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let outcome = try await Program.run("run", "--unregistered", "--output", file, "--quiet", "--", "sh", "-c", "kill -\(signal) $$")
        #expect(outcome.ending == .signaled(signal))
        // The report was written before.
        let report = try JSONValue(parsing: #require(TemporaryFolder.read(file)))
        #expect(report["result"]?["signal_number"]?.int64 == Int64(signal))
        #expect(report["finished_reason"]?.string == "failed")
    }

    @Test func outputPassesThroughAndIsKept() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let outcome = try await Program.run(
            "run", "--unregistered", "--type", "T", "--subject", "S", "--target", "192.0.2.1", "--output", file, "--quiet", "--", "sh",
            "-c",
            #"echo '{"rtt":1.50}'; echo warn >&2"#)
        #expect(outcome.output == "{\"rtt\":1.50}\n")
        #expect(outcome.errors == "warn\n")
        let report = try JSONValue(parsing: #require(TemporaryFolder.read(file)))
        #expect(report["schema"]?.string == "fieldprobe/report/1")
        #expect(report["type"]?.string == "T" && report["subject"]?.string == "S")
        #expect(report["target"]?["addresses"]?.text() == #"["192.0.2.1"]"#)
        #expect(report["result"]?["output"]?.text() == #"{"rtt":1.50}"#)
        #expect(report["result"]?["stderr_tail"]?.string == "warn\n")
        #expect(report["connection_detail_trace"]?.array?.isEmpty == false)
        #expect(report["finished_reason"]?.string == "completed")
    }

    @Test func theReportOnStandardOutputStandsAlone() async throws {
        for option in [["--json"], ["--output", "-"]] {
            let outcome = try await Program.shell("exec \"$0\" run --unregistered \(option.joined(separator: " ")) -- echo hello")
            #expect(outcome.json?["result"]?["output_text"]?.string == "hello\n")
            #expect(outcome.json?["subject"]?.string == "echo")
            #expect(outcome.errors == "hello\n")
        }
    }

    @Test func withoutAnOutputTheReportIsShown() async throws {
        let outcome = try await Program.run("run", "--unregistered", "--", "echo", "hello")
        #expect(outcome.output == "hello\n")
        #expect(outcome.errors.hasPrefix("Test NETWORK/echo, completed\n"))
        #expect(!outcome.errors.contains("\u{1B}"))
    }

    @Test func standardInputIsInherited() async throws {
        let outcome = try await Program.shell("printf 'a\\nb\\n' | \"$0\" run --unregistered --quiet -- wc -l")
        #expect(outcome.output.contains("2"))
    }

    @Test func whatCannotBeRun() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let missing = try await Program.run("run", "--unregistered", "--output", file, "--quiet", "--", "/no/such/program")
        #expect(missing.status == 127)
        #expect(missing.errors == "fieldprobe: '/no/such/program' cannot be run: No such file or directory; check its name and PATH\n")
        #expect(TemporaryFolder.read(file)?.contains(#""finished_reason": "failed""#) == true)
        #expect(try await Program.run("run", "--unregistered", "--quiet", "--", "/etc/passwd").status == 126)
    }

    @Test func aReportThatCannotBeWrittenIsToldBeforeTheTest() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await Program.run(
            "run", "--unregistered", "--output", "\(folder.path)/no/r.json", "--", "touch", "\(folder.path)/ran")
        #expect(outcome.status == 123)
        #expect(outcome.errors.contains("the report cannot be written"))
        #expect(TemporaryFolder.read("\(folder.path)/ran") == nil)
        // A full disk shows only at the end.
        let full = try await Program.shell("exec \"$0\" run --unregistered --json -- true > /dev/full")
        #expect(full.status == 125)
        #expect(full.errors.contains("No space left on device"))
        #expect(try await Program.shell("ls \(folder.path)").output.isEmpty)
    }

    /// Signals that a process sends to us reach the command; the report is still written; the end is the command's.
    @Test(arguments: ["TERM", "HUP", "USR1", "USR2", "INT", "QUIT"])
    func signalsAreForwarded(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        // A shell starts its background jobs with SIGINT and SIGQUIT ignored, and what is ignored stays so: env(1) undoes that.
        let outcome = try await Program.shell(
            """
            env --default-signal=\(name) "$0" run --unregistered --output \(file) --quiet -- sh -c 'trap "echo got \(name); exit 9" \(name); echo ready; while :; do sleep 0.05; done' > \(folder.path)/out &
            pid=$!
            while ! grep -qs ready \(folder.path)/out; do sleep 0.05; done
            kill -\(name) $pid
            wait $pid
            echo "status $?"
            cat \(folder.path)/out
            """)
        #expect(outcome.output == "status 9\nready\ngot \(name)\n")
        #expect(TemporaryFolder.read(file)?.contains("got \(name)") == true)
    }

    @Test func aCommandEndedThroughUsIsAborted() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let outcome = try await Program.shell(
            """
            "$0" run --unregistered --output \(file) --quiet -- sh -c 'echo ready; exec sleep 60' > \(folder.path)/out &
            pid=$!
            while ! grep -qs ready \(folder.path)/out; do sleep 0.05; done
            kill -TERM $pid
            wait $pid
            echo "status $?"
            """)
        #expect(outcome.output == "status 143\n")
        let report = try JSONValue(parsing: #require(TemporaryFolder.read(file)))
        #expect(report["finished_reason"]?.string == "aborted")
        #expect(report["result"]?["signal"]?.string == "SIGTERM")
    }

    @Test func ignoredSignalsStayIgnored() async throws {
        let outcome = try await Program.shell("trap '' HUP PIPE; exec \"$0\" run --unregistered --quiet -- grep SigIgn /proc/self/status")
        // glibc's posix_spawn leaves its own two signals, 32 and 33, ignored.
        func mask(_ text: String) -> UInt64? {
            UInt64(text.split(whereSeparator: \.isWhitespace).last ?? "", radix: 16).map { $0 & 0x7FFF_FFFF }
        }
        #expect(mask(outcome.output) == 1 << (SIGHUP - 1) | 1 << (SIGPIPE - 1))
        let plain = try await Program.run("run", "--unregistered", "--quiet", "--", "grep", "SigIgn", "/proc/self/status")
        #expect(mask(plain.output) == 0)
    }

    @Test func aReaderThatLeavesEndsTheCommandAsItWouldWithoutUs() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let outcome = try await Program.shell("{ \"$0\" run --unregistered --quiet --output \(file) -- yes; echo $? >&2; } | head -n 1")
        #expect(outcome.output == "y\n")
        #expect(outcome.errors == "141\n")
        #expect(TemporaryFolder.read(file)?.contains("SIGPIPE") == true)
    }

    @Test func nothingLeaksIntoTheCommand() async throws {
        let folder = try TemporaryFolder()
        // The same shell without us shows what is not ours.
        let outcome = try await Program.shell(
            """
            ls /proc/self/fd; echo --
            "$0" run --unregistered --quiet --output \(folder.path)/r.json -- ls /proc/self/fd; echo --
            "$0" run --unregistered --quiet --output /dev/null --target 127.0.0.1 -- ls /proc/self/fd
            """)
        let lists = outcome.output.split(separator: "--\n")
        #expect(lists.count == 3 && Set(lists).count == 1)
        #expect(lists.first?.split(separator: "\n").contains("2") == true)
    }

    @Test func whatIsNotOursIsTheCommands() async throws {
        let outcome = try await Program.shell(
            #"""
            exec 9<<EOF
            nine
            EOF
            "$0" run --unregistered --quiet -- sh -c 'cat <&9'
            exec bash -c '"$0" run --unregistered --quiet -- cat <(echo hi)' "$0"
            """#)
        #expect(outcome.output == "nine\nhi\n")
        #expect(outcome.errors.isEmpty)
    }

    /// What is no file stays what it is.
    @Test func aReportIntoADeviceOrAFIFO() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await Program.shell(
            """
            cd \(folder.path); mkfifo pipe; cat pipe > got &
            "$0" run --unregistered --quiet --output pipe -- true; echo $?; wait; test -p pipe && echo fifo
            "$0" run --unregistered --quiet --output /dev/null -- true; echo $?; test -c /dev/null && echo device
            "$0" run --unregistered --quiet --output /dev/full -- true; echo $?
            "$0" run --unregistered --quiet --output /dev/stdout -- true | grep -c fieldprobe/report/1
            ls
            """)
        #expect(outcome.output == "0\nfifo\n0\ndevice\n123\n1\ngot\npipe\n")
        #expect(outcome.errors == "fieldprobe: the report cannot be written to '/dev/full': No space left on device\n")
        #expect(try JSONValue(parsing: #require(TemporaryFolder.read("\(folder.path)/got")))["schema"]?.string == "fieldprobe/report/1")
    }

    @Test func aReportThroughALink() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await Program.shell(
            """
            cd \(folder.path); mkdir a; touch a/old; chmod 600 a/old; ln -s a/old there; ln -s a/new dangling; ln -s \(folder.path)/there again
            for name in again dangling; do "$0" run --unregistered --quiet --output $name -- true; echo $?; done
            for name in there again dangling; do test -L $name && grep -c fieldprobe/report/1 $name; done
            ls a; stat -c %a a/old
            """)
        #expect(outcome.output == "0\n0\n1\n1\n1\nnew\nold\n600\n")
        #expect(outcome.errors.isEmpty)
    }

    @Test func aReportIsNotLostAtTheEnd() async throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/r.json"
        let outcome = try await Program.run("run", "--unregistered", "--quiet", "--output", file, "--", "mkdir", file)
        #expect(outcome.status == 123)
        let kept = try #require(outcome.errors.split(separator: "'").first { $0.hasSuffix(".tmp") })
        #expect(outcome.errors.contains("it is in '\(kept)': move it from there"))
        #expect(try JSONValue(parsing: #require(TemporaryFolder.read(String(kept))))["schema"]?.string == "fieldprobe/report/1")
        // A folder is told before anything is measured.
        let early = try await Program.run("run", "--unregistered", "--output", file, "--", "touch", "\(folder.path)/ran")
        #expect(early.status == 120)
        #expect(TemporaryFolder.read("\(folder.path)/ran") == nil)
    }

    @Test(.timeLimit(.minutes(3))) func aGrandchildThatHoldsThePipe() async throws {
        let begin = MonotonicInstant.now()
        // Its own output has to be elsewhere, or this test would wait for it.
        let outcome = try await Program.shell(
            "\"$0\" run --unregistered --quiet --output /tmp/fieldprobe-grandchild.$$ -- sh -c 'sleep 150 & exit 5' >/dev/null; echo $?; rm /tmp/fieldprobe-grandchild.$$"
        )
        #expect(outcome.output == "5\n")
        #expect(MonotonicInstant.now() - begin < .seconds(100))
    }
}
