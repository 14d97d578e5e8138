/// Cuts a stream of octets into lines, of bounded length: what a program writes must not decide over this process's memory.
struct LineBuffer {
    enum Line: Equatable {
        case whole([UInt8])
        /// A line beyond the limit, told once, at its end or as soon as it is known to be too long.
        case tooLong
    }

    /// Octets without the line feed.
    let maximum: Int
    private var pending: [UInt8] = []
    private var isSkipping = false

    init(maximum: Int) { self.maximum = maximum }

    /// Whether the stream stands in the middle of a line.
    var isInsideLine: Bool { isSkipping || !pending.isEmpty }

    /// What has come of that line; nil where that is too much to keep.
    var tail: [UInt8]? { isSkipping ? nil : pending }

    mutating func append(_ octets: some Collection<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = octets[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[..<end], into: &lines)
            if !isSkipping { lines.append(.whole(pending)) }
            pending = []
            isSkipping = false
            rest = rest[rest.index(after: end)...]
        }
        take(rest, into: &lines)
        return lines
    }

    private mutating func take(_ part: some Collection<UInt8>, into lines: inout [Line]) {
        guard !isSkipping, !part.isEmpty else { return }
        guard pending.count + part.count <= maximum else {
            pending = []
            isSkipping = true
            lines.append(.tooLong)
            return
        }
        pending += part
    }

    /// The stream continues after a part that was thrown away.
    ///
    /// - Parameter tail: what is known of the line that it stands in, empty for none; nil leaves out the rest of that line.
    mutating func resume(_ tail: [UInt8]?) {
        pending = tail ?? []
        isSkipping = tail == nil
    }
}
