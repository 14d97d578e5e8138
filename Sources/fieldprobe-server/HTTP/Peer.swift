internal import MeasurementModel

/// Whom rate limits count.
enum Peer {
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// - Parameters:
    ///   - address: of the connection.
    ///   - proxy: whose word on where a request comes from is taken.
    static func name(_ address: IPAddress?, _ headers: ServerRequest.Headers, proxy: IPAddress?) -> String {
        guard let address = address.map(plain) else { return "unknown" }
        if let proxy, address == plain(proxy), let text = headers.last("x-forwarded-for")?.split(separator: ",").last,
            let forwarded = IPAddress(String(text.filter { $0 != " " }))
        {
            return bucket(plain(forwarded))
        }
        return bucket(address)
    }

    /// An IPv4 address that came over an IPv6 socket is still one.
    private static func plain(_ address: IPAddress) -> IPAddress {
        guard address.octets.count == 16, address.octets.starts(with: mapped) else { return address }
        return IPAddress(octets: Array(address.octets.suffix(4))) ?? address
    }

    /// One customer has a whole /64 of IPv6: to change the address within it is free.
    private static func bucket(_ address: IPAddress) -> String {
        address.family == .ipv6 ? address.network(prefixLength: 64).description : address.description
    }
}
