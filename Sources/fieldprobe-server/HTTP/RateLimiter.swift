internal import MeasurementModel
internal import Synchronization

/// Token buckets by name: so many at once, and so many in a minute. On the clock that nobody sets.
final class RateLimiter: Sendable {
    private struct Bucket {
        var level: Double
        var at: MonotonicInstant
    }

    private let perMinute: Double
    private let buckets = Mutex<[String: Bucket]>([:])
    /// Names are made by whoever sends requests: beyond so many, those that are full again are forgotten.
    private static let maximumNames = 50_000

    init(perMinute: Int) { self.perMinute = Double(max(1, perMinute)) }

    /// Nil when it may pass; otherwise the seconds to wait.
    func take(_ name: String, now: MonotonicInstant = .now()) -> Int? {
        buckets.withLock { known -> Int? in
            if known.count >= Self.maximumNames, known[name] == nil {
                known = known.filter { level($0.value, now) < perMinute }
                // Nobody has let up: then everybody new waits.
                if known.count >= Self.maximumNames { return 60 }
            }
            let left = known[name].map { level($0, now) } ?? perMinute
            guard left >= 1 else {
                return max(1, Int(((1 - left) / perMinute * 60).rounded(.up)))
            }
            known[name] = Bucket(level: left - 1, at: now)
            return nil
        }
    }

    private func level(_ bucket: Bucket, _ now: MonotonicInstant) -> Double {
        min(perMinute, bucket.level + (now - bucket.at).inSeconds * perMinute / 60)
    }
}
