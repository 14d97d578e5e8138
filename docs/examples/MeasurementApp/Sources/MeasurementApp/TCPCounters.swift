/// TCP's counters in a network namespace since it was made (RFC 4022; the kernel's `/proc/net/snmp`, proc(5)).
struct TCPCounters: Hashable {
    let sentSegments: Int64
    let retransmittedSegments: Int64
    let receivedErrors: Int64

    init(sentSegments: Int64, retransmittedSegments: Int64, receivedErrors: Int64) {
        self.sentSegments = sentSegments
        self.retransmittedSegments = retransmittedSegments
        self.receivedErrors = receivedErrors
    }

    /// The file has two lines for each protocol: names, then values in the same order. Nil where a counter is missing.
    init?(snmp text: String) {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("Tcp: ") }.map { $0.split(separator: " ") }
        guard lines.count == 2, lines[0].count == lines[1].count else { return nil }
        var values: [Substring: Int64] = [:]
        for (name, value) in zip(lines[0], lines[1]) { values[name] = Int64(value) }
        guard let sent = values["OutSegs"], let retransmitted = values["RetransSegs"], let errors = values["InErrs"] else { return nil }
        self.init(sentSegments: sent, retransmittedSegments: retransmitted, receivedErrors: errors)
    }
}
