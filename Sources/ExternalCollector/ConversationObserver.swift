/// Hears what happens between fieldprobe and a collector's process: for tools that explain it to the collector's author. Called on the
/// collector's thread.
package struct ConversationObserver: Sendable {
    package enum Event: Sendable {
        /// A line that was refused: the word of the honesty record, and what is wrong in words.
        case refused(word: String, detail: String)
        /// What the program wrote to standard error.
        case complained([UInt8])
    }

    package let hear: @Sendable (Event) -> Void

    package init(_ hear: @escaping @Sendable (Event) -> Void) { self.hear = hear }
}
