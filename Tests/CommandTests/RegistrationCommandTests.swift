import LabSupport
import MeasurementModel
import ServerLab
import Testing

/// `register`, `status`, `authenticate`, `unregister`, `forget`, `capability`, and the gate of `run` and `web`.
@Suite struct RegistrationCommandTests {
    @Test func fromTheKeyToTheEnd() throws {
        let device = try ProgramOnDevice()
        defer { device.api.stop() }
        #expect(try device.run("status").status == 200)
        // The key comes from standard input, so that no list of processes shows it.
        let registered = try device.run("register", "--key", "-", "--label", "van 7", "--tag", "a", "--tag", "b", input: "good-key\n")
        #expect(registered.status == 0, "\(registered.output)")
        #expect(registered.output.contains("client-1"))
        let status = try device.run("status")
        #expect(status.status == 0 && status.output.contains("confirmed") && status.output.contains("van 7"))
        let json = try device.status()
        #expect(json["state"] == .string("confirmed") && json["client_uuid"] == .string("client-1"))
        #expect(json["client_tags"] == .strings(["a", "b"]))
        #expect(try device.run("capability").output == "every test may run\n")
        #expect(try device.run("capability", "--json").output == "null\n")
        #expect(try device.run("authenticate").status == 0)
        #expect(try device.run("register", "--key", "good-key").status == 205)

        let run = try device.run("run", "--json", "--", "true")
        let report = try JSONValue(parsing: run.output)
        #expect(run.status == 0 && report["client_uuid"] == .string("client-1") && report["client_label"] == .string("van 7"))
        #expect(report["started_at_skewed"] != nil)

        #expect(try device.run("unregister").status == 0)
        #expect(device.api.clients.isEmpty)
        #expect(try device.run("status").status == 200)
        let secrets = [registered.output, status.output].joined()
        #expect(!secrets.contains("good-key") && !secrets.contains("token-"))
    }

    @Test func testsNeedARegistrationUnlessTheyStayHere() throws {
        let device = try ProgramOnDevice()
        defer { device.api.stop() }
        for command in [["run", "--", "true"], ["web", "http://127.0.0.1:9/"]] {
            let refused = try MergedProgram.run([command[0]] + device.options + command.dropFirst())
            #expect(refused.status == 200)
            #expect(refused.output.contains("fieldprobe register") && refused.output.contains("--unregistered"))
        }
        let local = try device.run("run", "--unregistered", "--json", "--", "true")
        #expect(local.status == 0)
        #expect(try JSONValue(parsing: local.output)["client_uuid"] == nil)
        #expect(device.api.requests.isEmpty)
    }

    @Test(
        arguments: [
            ("unknown_credentials", 202, true), ("usage_window_elapsed", 203, true), ("client_disabled", 204, false),
        ] as [(String, Int32, Bool)])
    func theThreeWaysOfBeingDropped(_ code: String, _ status: Int32, _ mayRegisterAgain: Bool) throws {
        let device = try ProgramOnDevice()
        defer { device.api.stop() }
        #expect(try device.run("register", "--key", "good-key").status == 0)
        if code == "unknown_credentials" { device.api.removeClients() } else { device.api.refuse(code) }
        #expect(try device.run("authenticate").status == status)
        #expect(try device.run("status").status == status)
        #expect(try device.run("run", "--", "true").status == status)
        let json = try device.status()
        #expect(json["dropped_reason"] == .string(code) && json["may_register_again"] == .bool(mayRegisterAgain))
        let again = try device.run("register", "--key", "good-key")
        #expect(again.status == (mayRegisterAgain ? 0 : 204))
        if !mayRegisterAgain {
            #expect(json["dropped_detail"] == .string("as the administrator says"))
            #expect(try device.run("forget").status == 0)
            #expect(try device.run("register", "--key", "good-key").status == 204)
            #expect(try device.run("register", "--key", "good-key", "--force").status == 0)
            #expect(device.api.clients.count == 2)
        }
    }

    @Test func aConfirmationThatRunsOutIsRenewedBeforeATest() throws {
        let device = try ProgramOnDevice()
        defer { device.api.stop() }
        device.api.change { $0.grantedSeconds = 1 }
        #expect(try device.run("register", "--key", "good-key").status == 0)
        try ChildProcess.run("sleep", "1.1")
        #expect(try device.run("status").status == 201)
        device.api.change { $0.instead = { _ in .hangUp } }
        #expect(try device.run("run", "--", "true").status == 201)
        device.api.change {
            $0.instead = { _ in nil }
            $0.grantedSeconds = 3600
        }
        #expect(try device.run("run", "--quiet", "--", "true").status == 0)
    }

    @Test func aCapability() throws {
        let device = try ProgramOnDevice()
        defer { device.api.stop() }
        device.api.change { $0.capability = .object(["allow_types": .strings(["WEB"])]) }
        #expect(try device.run("register", "--key", "good-key").status == 0)
        #expect(try device.run("capability").output == "types: WEB only\n")
        let refused = try device.run("run", "--type", "NETWORK", "--subject", "ping", "--", "true")
        #expect(refused.status == 122 && refused.output.contains("'NETWORK'") && refused.output.contains("'ping'"))
        #expect(try device.run("run", "--type", "WEB", "--quiet", "--", "true").status == 0)
    }

    @Test func whatIsWrongHasItsOwnStatus() throws {
        let device = try ProgramOnDevice()
        defer { device.api.stop() }
        #expect(try device.run("register", "--key", "bad-key").status == 205)
        #expect(try device.run("register").status == 120)
        #expect(try device.run("register", "--key", "-", input: "\n").status == 120)
        #expect(try MergedProgram.run(["register", "--key", "k"]).status == 121)
        #expect(try MergedProgram.run(["register", "--key", "k", "--set", "fieldprobe.api-endpoint=http://server.example/"]).status == 121)
        device.api.change { $0.instead = { _ in .hangUp } }
        #expect(try device.run("register", "--key", "good-key").status == 206)
        try device.folder.write("state/registration/registration.json", "damaged")
        #expect(try device.run("status").status == 207)
        #expect(try device.status()["state"] == .string("unreadable"))
        #expect(try device.run("register", "--key", "good-key").status == 207)
        #expect(try device.run("forget").status == 0)
        #expect(try device.run("status").status == 200)
    }

    /// Kill -9 at the n-th call of each system call that changes something, on the disk or at the server.
    @Test(arguments: ["fsync", "rename", "link", "unlink", "close", "sendto", "recvfrom", "mkdir", "flock"])
    func killedWhileItRegisters(_ call: String) throws {
        var kills = 0
        for number in 1...6 {
            let device = try ProgramOnDevice()
            defer { device.api.stop() }
            let killer = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=\(call):signal=KILL:when=\(number)"]
            let ended = try device.run("register", "--key", "good-key", under: killer)
            if ended.status != 0 { kills += 1 }
            let status = try device.run("status").status
            #expect([0, 200, 201].contains(status), "\(call) \(number): \(status)")
            if ended.status == 0 { #expect(status == 0) }
            if status != 0 { #expect(try device.run("register", "--key", "good-key").status == 0, "\(call) \(number)") }
            #expect(try device.run("status").status == 0)
            #expect(device.api.clients.count == 1, "\(call) \(number)")
        }
        #expect(kills > 0, "nothing was killed")
    }
}
