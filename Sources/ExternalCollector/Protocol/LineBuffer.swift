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

    /// Nothing is told of the line that the stream stands in, if it stands in one.
    mutating func leaveOutCurrent() {
        isSkipping = isInsideLine
        pending = []
    }
}
