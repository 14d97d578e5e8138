import CLinux
import Glibc
import CollectorCore
import LabSupport
import MeasurementModel
import QualityTests

/// The built program, as a test runs it.
enum Program {
    static let path = Lab.built("fieldprobe")

    struct Outcome {
        let output: String
        let errors: String
        let ending: CommandResult.Ending

        var status: Int32? { if case .exited(let status) = ending { status } else { nil } }
        var json: JSONValue? { try? JSONValue(parsing: output) }
    }

    static func run(_ arguments: String...) async throws -> Outcome { try await run([path] + arguments) }

    /// A line for sh(1), in which `$0` is the program.
    static func shell(_ line: String) async throws -> Outcome { try await run(["sh", "-c", line, path]) }

    private static func run(_ arguments: [String]) async throws -> Outcome {
        var settings = CommandMeasurement.Settings()
        settings.maximumOutput = 1 << 24
        settings.maximumErrorTail = 1 << 20
        let result = try await CommandMeasurement(arguments, settings: settings).run()
        return Outcome(
            output: String(decoding: result.output, as: UTF8.self), errors: String(decoding: result.errorTail, as: UTF8.self),
            ending: result.ending)
    }

    /// Runs the program, or another by its path, on a terminal of its own and does there what the steps say: python3's pty module is the terminal.
    ///
    /// - Parameters:
    ///   - steps: Python statements, with `wait(text)` for output, `send(octets)` for keys, `resize(rows, columns)` and `pid`.
    /// - Returns: what the terminal showed, and the wait status as a shell gives it.
    static func onTerminal(_ arguments: [String], program: String = path, steps: String = "", environment: [String: String] = [:])
        async throws -> (
            shown: String, status: Int32
        )
    {
        let folder = try TemporaryFolder()
        let script = try folder.write("terminal.py", driver.split(separator: "#STEPS").joined(separator: steps))
        var variables = environment
        variables["TERM"] = environment["TERM"] ?? "xterm"
        let child = try ChildProcess(["python3", script, program] + arguments, environment: variables)
        let (output, status) = try await OwnThread.value("terminal") { .success(child.finish()) }
        _ = consume folder
        return (output, status)
    }

    private static let driver = """
        import fcntl, os, pty, select, signal, struct, sys, termios, time
        pid, master = pty.fork()
        if pid == 0:
            # Before the program looks: a size that comes later is another test.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
            os.execv(sys.argv[1], sys.argv[1:])
        seen = b""
        def resize(rows, columns):
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        def take(timeout):
            global seen
            if not select.select([master], [], [], timeout)[0]: return True
            try: data = os.read(master, 65536)
            except OSError: return False
            seen += data
            return bool(data)
        def wait(text):
            end = time.time() + 20
            while text.encode() not in seen and time.time() < end:
                if not take(0.1): break
        def send(octets): os.write(master, octets)
        resize(33, 99)
        #STEPS
        end = time.time() + 40
        while take(1):
            if time.time() > end: os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        sys.stdout.buffer.write(seen)
        sys.stdout.flush()
        sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
        """
}
