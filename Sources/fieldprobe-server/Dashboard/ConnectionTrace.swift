internal import MeasurementModel

/// How good a link was, in four steps that a map can show.
enum SignalGrade: String, CaseIterable {
    case excellent, good, fair, weak, unknown

    /// RSRP of a cellular link (dBm), else RSSI of Wi-Fi (dBm).
    init(_ snapshot: JSONValue?) {
        func grade(_ value: Double, _ limits: (Double, Double, Double)) -> SignalGrade {
            value >= limits.0 ? .excellent : value >= limits.1 ? .good : value >= limits.2 ? .fair : .weak
        }
        if let rsrp = snapshot?["rsrp"]?.double {
            self = grade(rsrp, (-80, -95, -110))
        } else if let rssi = snapshot?["rssi"]?.double {
            self = grade(rssi, (-55, -67, -78))
        } else {
            self = .unknown
        }
    }

    /// In words, with the steps themselves.
    var meaning: String {
        switch self {
        case .excellent: "excellent: RSSI −55 or RSRP −80 dBm and more"
        case .good: "good: −67 or −95 dBm and more"
        case .fair: "fair: −78 or −110 dBm and more"
        case .weak: "weak: less"
        case .unknown: "no signal known"
        }
    }
}

/// The snapshots of the connection, in the order of time.
struct ConnectionTrace {
    struct Entry {
        /// Milliseconds since the test's start.
        let offset: Double
        let snapshot: JSONValue
    }

    static let maximumEntries = 500
    let entries: [Entry]
    let isCut: Bool

    init(_ report: JSONValue) {
        let found = (report["connection_detail_trace"]?.array ?? []).compactMap { snapshot in
            snapshot["offset_ms"]?.double.map { Entry(offset: $0, snapshot: snapshot) }
        }
        entries = Array(found.sorted { $0.offset < $1.offset }.prefix(Self.maximumEntries))
        isCut = found.count > Self.maximumEntries
    }

    /// What held at a moment.
    func snapshot(at offset: Double) -> JSONValue? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? entries[low - 1].snapshot : nil
    }
}
