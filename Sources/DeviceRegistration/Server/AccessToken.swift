public import MeasurementModel

/// What proves this device's identity in one request after the other, for a short time. It is kept in memory only.
public struct AccessToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For the `Authorization` header, and for nothing else.
    public let text: String
    /// On the boot-time clock: the device's wall clock has no say in it.
    public let expiresAt: MonotonicInstant

    /// - Parameter lifetime: as the server told it, from the request on.
    init(text: String, lifetime: Duration, requestedAt: MonotonicInstant) {
        self.text = text
        // Early enough that it is still good when it arrives.
        expiresAt = requestedAt + max(.zero, lifetime - min(.seconds(30), lifetime / 10))
    }

    func isFresh(at instant: MonotonicInstant) -> Bool { instant < expiresAt }

    public var description: String { "AccessToken(…)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
