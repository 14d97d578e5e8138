internal import CLinux
internal import Glibc
internal import MeasurementModel

enum UserAddCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "user add", operand: "NAME", about: "Let somebody into the dashboard, or change the password",
        details: """
            The password is asked for on the terminal, or read as the first line of standard input. It needs 10 characters.
            Whoever is logged in under the name has to log in again.
            """)

    private static let minimumLength = 10

    static func run(_ arguments: ParsedArguments) throws {
        let name = arguments.operand
        guard (1...64).contains(name.count), RequestDocument.isPrintable(name) else {
            throw arguments.fault("NAME must have 1 to 64 printable characters")
        }
        let administration = try Administration(arguments)
        let password = try readPassword(name)
        guard password.count >= minimumLength, password.utf8.count <= 1024 else {
            throw CommandFailure(.usage, "the password must have \(minimumLength) characters or more, and at most 1024 octets")
        }
        try administration.store.create(
            user: name, password: SecretHash.make(password, cost: .password), now: administration.now)
        try administration.print(.object(["user": .string(name)]), "\(name) can log in")
    }

    private static func readPassword(_ name: String) throws -> String {
        guard isatty(0) == 1 else { return Swift.readLine(strippingNewline: true) ?? "" }
        let first = try prompt("Password for \(name): ")
        guard try prompt("Once more: ") == first else { throw CommandFailure(.usage, "the two passwords differ") }
        return first
    }

    /// Without an echo, whatever ends it.
    private static func prompt(_ text: String) throws -> String {
        var before = termios()
        guard tcgetattr(0, &before) == 0 else { throw SystemError(errno: errno, call: "tcgetattr") }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(0, TCSAFLUSH, &silent)
        defer {
            tcsetattr(0, TCSAFLUSH, &before)
            _ = Output.write([0x0A], to: 2)
        }
        _ = Output.write(Array(text.utf8), to: 2)
        return Swift.readLine(strippingNewline: true) ?? ""
    }
}
