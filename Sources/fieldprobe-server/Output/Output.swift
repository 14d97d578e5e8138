internal import CLinux
internal import Glibc
internal import MeasurementModel

/// What this program prints.
enum Output {
    /// - Throws: ``CommandFailure`` when it cannot be written, but for a reader that has left: then there is nothing to say any more.
    static func print(_ octets: [UInt8]) throws {
        let error = write(octets, to: 1)
        guard error == 0 || error == EPIPE else {
            throw CommandFailure(.failure, "standard output cannot be written: \(SystemError.text(error))")
        }
    }

    static func print(_ text: String) throws { try print(Array((text + "\n").utf8)) }

    static func print(_ value: JSONValue) throws { try print(value.text(pretty: true)) }

    /// One line about what went wrong, on standard error.
    static func complain(_ text: String) {
        _ = write(Array("fieldprobe-server: \(PlainText.escaped(text))\n".utf8), to: 2)
    }

    /// Everything, or the errno that stopped it.
    static func write(_ octets: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}

/// Text from outside, made fit for a terminal: a label must not move the cursor or turn the line around.
enum PlainText {
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }.joined()
    }
}

/// Columns for people.
struct TextTable {
    private var rows: [[String]]

    init(_ titles: String...) { rows = [titles] }

    mutating func add(_ row: String...) { rows.append(row.map(PlainText.escaped)) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
