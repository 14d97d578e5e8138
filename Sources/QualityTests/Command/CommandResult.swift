public import MeasurementModel

/// How a command ended and what it printed.
public struct CommandResult: MeasurementResult, Sendable {
    /// With an exit status, or by a signal (wait(2)).
    public enum Ending: Sendable, Hashable {
        case exited(Int32)
        case signaled(Int32)
    }

    /// The program's name, without its folder and without its arguments, which may hold secrets.
    public let program: String
    public let ending: Ending
    /// From its start to its end, whatever others still printed then.
    public let duration: Duration
    /// The beginning of standard output.
    public let output: [UInt8]
    /// Octets that standard output had in all.
    public let outputOctets: Int
    /// The end of standard error.
    public let errorTail: [UInt8]
    /// Octets that standard error had in all.
    public let errorOctets: Int
    /// It was told to end: by a signal to this process, from the terminal, or by a cancelled test.
    public let wasInterrupted: Bool

    public var isOutputTruncated: Bool { outputOctets > output.count }

    /// Standard output, when all of it is one JSON document.
    public var document: JSONValue? {
        isOutputTruncated || output.isEmpty ? nil : try? JSONValue(parsing: output)
    }

    /// Exit status 0 is `completed`; any other, and a signal, is `failed`; a command that was told to end is `aborted`.
    public var finishedReason: Report.FinishedReason {
        if wasInterrupted { return .aborted }
        return ending == .exited(0) ? .completed : .failed
    }

    public var json: JSONValue {
        var object: JSONObject = ["command": .string(program)]
        switch ending {
        case .exited(let status): object["exit_status"] = .integer(status)
        case .signaled(let number):
            object["signal"] = .string(SignalName.text(number))
            object["signal_number"] = .integer(number)
        }
        object["duration_ms"] = .integer(duration.milliseconds)
        if let document {
            object["output"] = document
        } else if !output.isEmpty {
            object["output_text"] = .string(Self.text(output, cut: isOutputTruncated ? .end : .none))
        }
        object["output_octets"] = .integer(outputOctets)
        if isOutputTruncated { object["output_truncated"] = .bool(true) }
        if !errorTail.isEmpty {
            object["stderr_tail"] = .string(Self.text(errorTail, cut: errorOctets > errorTail.count ? .beginning : .none))
        }
        object["stderr_octets"] = .integer(errorOctets)
        return .object(object)
    }

    enum Cut { case none, beginning, end }

    /// Octets as text. The rest of a character that the bound has cut in two is left out; other wrong octets become U+FFFD.
    static func text(_ octets: [UInt8], cut: Cut) -> String {
        var kept = octets[...]
        switch cut {
        case .none: break
        case .beginning: kept = kept.dropFirst(kept.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count)
        case .end:
            if let start = kept.lastIndex(where: { $0 & 0xC0 != 0x80 }), kept.endIndex - start < length(kept[start]) {
                kept = kept[..<start]
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// Octets of the character that begins with this one.
    private static func length(_ first: UInt8) -> Int {
        switch first {
        case 0xF0...: 4
        case 0xE0...: 3
        case 0xC0...: 2
        default: 1
        }
    }
}
