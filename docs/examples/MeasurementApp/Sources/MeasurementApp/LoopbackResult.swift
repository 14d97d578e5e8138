import FieldProbe

/// What the measurement found: the report shows it under `result`. Any type that is Encodable and Sendable will do.
struct LoopbackResult: Encodable, Sendable {
    /// How long it took to connect, in milliseconds, over all tries.
    struct ConnectTimes: Encodable, Sendable {
        let count: Int
        let minimumMs: Double
        let medianMs: Double
        let maximumMs: Double

        /// Nil without a time.
        init?(_ times: [Duration]) {
            let sorted = times.map { Double($0.nanoseconds) / 1e6 }.sorted()
            guard let first = sorted.first, let last = sorted.last else { return nil }
            let middle = sorted.count / 2
            count = sorted.count
            minimumMs = first
            medianMs = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
            maximumMs = last
        }

        enum CodingKeys: String, CodingKey {
            case count
            case minimumMs = "minimum_ms"
            case medianMs = "median_ms"
            case maximumMs = "maximum_ms"
        }
    }

    let connect: ConnectTimes?
    /// Octets that the server says it received, and how long that took.
    let receivedOctets: Int
    let seconds: Double
    /// Left out where no time has passed.
    let megabitsPerSecond: Double?

    init(connectTimes: [Duration], receivedOctets: Int, duration: Duration) {
        connect = ConnectTimes(connectTimes)
        self.receivedOctets = receivedOctets
        seconds = duration.inSeconds
        megabitsPerSecond = seconds > 0 ? Double(receivedOctets) * 8 / 1e6 / seconds : nil
    }

    enum CodingKeys: String, CodingKey {
        case connect
        case receivedOctets = "received_octets"
        case seconds
        case megabitsPerSecond = "megabits_per_second"
    }
}
