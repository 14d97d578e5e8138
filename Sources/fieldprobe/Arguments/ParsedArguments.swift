/// A command line that was read by a ``CommandSyntax``.
struct ParsedArguments: Sendable {
    private(set) var values: [String: [String]] = [:]
    private(set) var operands: [String] = []
    private let syntax: CommandSyntax

    /// - Throws: ``CommandFailure`` that says what is wrong and where help is.
    init(_ words: some Sequence<String>, syntax: CommandSyntax) throws {
        self.syntax = syntax
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            if word == "-h" {
                values["help"] = [""]
            } else if word.hasPrefix("--") {
                try takeOption(String(word.dropFirst(2)), &rest)
            } else if word.hasPrefix("-"), word != "-" {
                throw fault("there is no option '\(word)'")
            } else {
                operands.append(word)
                if syntax.endsAtOperand {
                    operands += rest
                    break
                }
            }
        }
        guard !isSet("help") else { return }
        guard operands.count >= syntax.operandCount.lowerBound else { throw fault("\(syntax.operands) is missing") }
        guard operands.count <= syntax.operandCount.upperBound else {
            throw fault("'\(operands[syntax.operandCount.upperBound])' is one word too many")
        }
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
        guard let value else { throw fault("'--\(option.name)' needs \(option.value ?? "a value")") }
        guard option.isRepeatable || values[option.name] == nil || option.value == nil else {
            throw fault("'--\(option.name)' is given twice")
        }
        values[option.name, default: []].append(value)
    }

    func isSet(_ name: String) -> Bool { values[name] != nil }
    func value(_ name: String) -> String? { values[name]?.last }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// A value that has to be of a type.
    func value<Value>(_ name: String, _ what: String, _ read: (String) -> Value?) throws -> Value? {
        guard let text = value(name) else { return nil }
        guard let value = read(text) else { throw fault("'--\(name)' needs \(what), and '\(text)' is none") }
        return value
    }

    func fault(_ text: String) -> CommandFailure {
        CommandFailure(.usage, "\(text): see 'fieldprobe \(syntax.name) --help'")
    }
}
