public import CollectorCore
public import MeasurementModel
public import ProbeLog

/// The running test, as its measurement sees it.
public struct TestSession: Sendable {
    /// The id of the report to come.
    public let id: String
    public let kind: TestKind
    public let target: SessionTarget
    public let startedAt: MonotonicInstant
    public let clock: any MeasurementClock
    public let logger: Logger
    /// When the granted time is over: a measurement that goes on is cut off by ``withinGrant(_:)``, and its report says `aborted` either way.
    /// Nil is without limit.
    public let deadline: MonotonicInstant?

    /// Runs a measurement that is cancelled when the granted time is over.
    public func withinGrant<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let deadline else { return try await body() }
        let left = deadline - clock.now()
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: left)
                return nil
            }
            // Whichever comes first; after the deadline the measurement is told to end, and its own ending is waited for.
            while let value = try await group.next() {
                group.cancelAll()
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Tells the collectors the address that the measurement really talks to. The first one counts.
    public func reached(_ address: IPAddress) { target.resolve(to: [address], at: clock.now()) }
}

/// How the addresses of a target's name become known to the collectors.
public enum TargetLookup: Sendable, Hashable {
    /// One lookup beside the test, on a thread of its own, that the test does not wait for.
    case resolver
    /// Only from ``TestSession/reached(_:)``: a lookup of our own would warm the resolver's cache, and so falsify a measurement in which
    /// the name is looked up.
    case measurement
}
