public import MeasurementModel

/// What can be set about the connection-detail collector.
public struct ConnectionDetailSettings: Sendable {
    /// How often the state is asked for when no event comes.
    public var pollInterval: Duration = .seconds(10)
    /// Names of interfaces that are metered, whatever else says.
    public var meteredInterfaces: Set<String> = []
    /// Where the packets of a tunnel go, by the tunnel's name: for tunnels whose transport the kernel does not know.
    public var tunnelPeers: [String: IPAddress] = [:]

    /// Octets of the event socket's buffer; nil is the default. Tests make it small to lose events.
    var receiveBuffer: Int32?
    /// D-Bus address to find NetworkManager at; nil is the system bus.
    var busAddress: String?

    public init() {}
}
