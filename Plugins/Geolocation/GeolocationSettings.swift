/// Where positions come from, and which of them are good enough.
public struct GeolocationSettings: Sendable, Hashable {
    /// The host of gpsd: a literal address or a name.
    public var host: String
    /// The TCP port of gpsd: a number or a service's name.
    public var port: String
    /// The one receiver to follow, by its path in gpsd. Nil follows the first that has a precise fix, and changes to another one after
    /// ten seconds without a fix.
    public var device: String?
    /// The largest horizontal error in metres at 95 % (gpsd's `eph`) with which a fix is recorded. The default lets the ordinary error
    /// of nearly every receiver pass: gpsd makes 19 m of a plain HDOP of 1.
    public var maximumError95: Double
    /// A fix is recorded when it is at least so many metres from the last recorded one.
    public var minimumDistance: Double
    /// Takes fixes that gpsd marks as simulated (status 8), for tests.
    public var acceptsSimulated: Bool

    public init(
        host: String = "127.0.0.1", port: String = "2947", device: String? = nil, maximumError95: Double = 100,
        minimumDistance: Double = 1, acceptsSimulated: Bool = false
    ) {
        self.host = host
        self.port = port
        self.device = device
        self.maximumError95 = maximumError95
        self.minimumDistance = minimumDistance
        self.acceptsSimulated = acceptsSimulated
    }
}
