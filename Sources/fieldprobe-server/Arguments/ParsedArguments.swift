internal import MeasurementModel

/// A command line that was read by a ``CommandSyntax``.
struct ParsedArguments: Sendable {
    private var values: [String: [String]] = [:]
    private var operands: [String] = []
    private let syntax: CommandSyntax

    /// - Throws: ``CommandFailure`` that says what is wrong and where help is.
    init(_ words: some Sequence<String>, syntax: CommandSyntax) throws {
        self.syntax = syntax
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            } else if word == "-h" {
                values["help"] = [""]
            } else if word.hasPrefix("--") {
                try takeOption(String(word.dropFirst(2)), &rest)
            } else if word.hasPrefix("-"), word != "-" {
                throw fault("there is no option '\(word)'")
            } else {
                operands.append(word)
            }
        }
        guard !isSet("help") else { return }
        let count = syntax.operand == nil ? 0 : 1
        if operands.count < count { throw fault("\(syntax.operand ?? "") is missing") }
        if operands.count > count { throw fault("'\(operands[count])' is one word too many") }
    }

    private mutating func takeOption(_ text: String, _ rest: inout ArraySlice<String>) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = syntax.allOptions.first(where: { $0.name == parts[0] }) else {
            throw fault("there is no option '--\(parts[0])'")
        }
        var value = parts.count == 2 ? parts[1] : nil
        if option.value == nil {
            guard value == nil else { throw fault("'--\(option.name)' takes no value") }
            value = ""
        } else if value == nil {
            value = rest.popFirst()
        }
        guard let value, option.value == nil || !value.isEmpty else { throw fault("'--\(option.name)' needs \(option.value ?? "a value")") }
        guard option.isRepeatable || values[option.name] == nil || option.value == nil else {
            throw fault("'--\(option.name)' is given twice")
        }
        values[option.name, default: []].append(value)
    }

    /// The word behind the options; the parser has seen to it that it is there.
    var operand: String { operands.first ?? "" }

    func isSet(_ name: String) -> Bool { values[name] != nil }
    func value(_ name: String) -> String? { values[name]?.last }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    func number(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw fault("'--\(name)' needs a number from \(range.lowerBound) to \(range.upperBound), and '\(text)' is none")
        }
        return number
    }

    /// `2026-11-30` is the beginning of that day in UTC.
    func time(_ name: String) throws -> Timestamp? {
        guard let text = value(name) else { return nil }
        guard let time = Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "T00:00:00Z") else {
            throw fault("'--\(name)' needs a time in UTC such as 2026-11-30 or 2026-11-30T12:00:00Z, and '\(text)' is none")
        }
        return time
    }

    func fault(_ text: String) -> CommandFailure {
        CommandFailure(.usage, "\(text): see 'fieldprobe-server \(syntax.name) --help'")
    }
}
