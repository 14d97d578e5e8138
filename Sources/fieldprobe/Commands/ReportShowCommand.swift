internal import CLinux
internal import Glibc
internal import MeasurementModel

/// Shows reports to people.
struct ReportShowCommand: Subcommand {
    static let syntax = CommandSyntax(
        name: "report show", operands: "FILE...", operandCount: 1...Int.max, about: "Show reports for people to read", options: [.json],
        details: "'-' is standard input. With '--json' the reports are printed as JSON again.")

    static func run(_ arguments: ParsedArguments) async throws -> Ending {
        var status = ExitStatus.success
        for (index, path) in arguments.operands.enumerated() {
            do {
                let report = try read(path)
                if arguments.isSet("json") {
                    try Output.printJSON(report)
                } else {
                    if index > 0 { try Output.print("\n") }
                    try Output.print(ReportView(report, style: Style(descriptor: 1)).text)
                }
            } catch let error as UnreadableReport {
                Output.complain(error.description)
                status = .notEverything
            }
        }
        return .own(status)
    }

    struct UnreadableReport: Error, CustomStringConvertible { let description: String }

    /// More is no report.
    private static let maximumOctets = 256 << 20

    private static func read(_ path: String) throws -> JSONValue {
        let descriptor = path == "-" ? 0 : clinux_open(path, O_RDONLY, 0)
        guard descriptor >= 0 else { throw UnreadableReport(description: "\(path): \(SystemError.text(-descriptor))") }
        defer { if descriptor > 2 { close(descriptor) } }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw UnreadableReport(description: "\(path): \(SystemError.text(errno))") }
            if count == 0 { break }
            octets += buffer[..<count]
            guard octets.count <= maximumOctets else { throw UnreadableReport(description: "\(path): too long for a report") }
        }
        do {
            let report = try JSONValue(parsing: octets)
            guard report["schema"]?.string == Report.schema else {
                throw UnreadableReport(description: "\(path): this is no report: its schema is not \(Report.schema)")
            }
            return report
        } catch let error as JSONSyntaxError {
            throw UnreadableReport(description: "\(path): \(error)")
        }
    }
}
