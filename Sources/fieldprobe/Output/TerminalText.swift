/// Text from outside, made fit for a terminal: a network's name or a command's output must not move the cursor, change the title or
/// turn the line around.
enum TerminalText {
    /// - Parameters:
    ///   - keepsLines: line feeds and tabs stay.
    ///   - limit: characters; a longer text ends in an ellipsis.
    static func escaped(_ text: String, keepsLines: Bool = false, limit: Int = .max) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else { return result + "…" }
            count += 1
            if keepsLines, scalar == "\n" || scalar == "\t" {
                result.unicodeScalars.append(scalar)
            } else if isHarmless(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    /// Neither a control character, nor one that turns or hides text, nor one that means nothing.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
