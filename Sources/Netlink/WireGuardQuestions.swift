internal import CNetlink
internal import Glibc
public import MeasurementModel

/// Where a WireGuard tunnel sends the packets for a destination (linux/wireguard.h). Needs CAP_NET_ADMIN.
public enum WireGuardQuestions {
    /// What carries a destination's packets.
    public struct Transport: Sendable, Hashable {
        public let endpoint: IPAddress
        /// The firewall mark of the tunnel's own packets.
        public let mark: UInt32?
    }

    /// - Returns: nil where the device is no WireGuard tunnel, may not be asked, or no peer takes the destination.
    public static func transport(on index: Int32, to destination: IPAddress) -> Transport? {
        guard let socket = try? NetlinkSocket(.generic), let family = try? socket.resolveFamily("wireguard") else { return nil }
        var body = MessageBuilder()
        body.u8(0)  // WG_CMD_GET_DEVICE
        body.u8(1)  // WG_GENL_VERSION
        body.zeros(2)
        body.attribute(1, u32: UInt32(index))  // WGDEVICE_A_IFINDEX
        guard let answers = try? socket.dump(type: family, body: body.octets) else { return nil }
        return transport(to: destination, in: answers.map { $0.payload.dropFirst(WirelessMonitor.headerSize) })
    }

    /// Picks the peer by the longest allowed prefix, as WireGuard's own routing does.
    static func transport(to destination: IPAddress, in messages: [ArraySlice<UInt8>]) -> Transport? {
        var best: (length: Int, endpoint: IPAddress)?
        var mark: UInt32?
        for message in messages {
            var device = AttributeDecoder(message)
            mark = device.u32(7) ?? mark  // WGDEVICE_A_FWMARK
            for peer in device.nested(8)?.attributes ?? [] {  // WGDEVICE_A_PEERS
                let attributes = AttributeDecoder(peer.payload)
                guard let endpoint = attributes.payload(4).flatMap(address(ofSocketAddress:)) else { continue }  // WGPEER_A_ENDPOINT
                for allowed in attributes.nested(9)?.attributes ?? [] {  // WGPEER_A_ALLOWEDIPS
                    var entry = AttributeDecoder(allowed.payload)
                    // WGALLOWEDIP_A_IPADDR, WGALLOWEDIP_A_CIDR_MASK
                    guard let network = entry.payload(2).flatMap({ IPAddress(octets: $0) }), let length = entry.u8(3).map(Int.init),
                        network.family == destination.family, length > best?.length ?? -1,
                        destination.network(prefixLength: length) == network.network(prefixLength: length)
                    else { continue }
                    best = (length, endpoint)
                }
            }
        }
        return best.map { Transport(endpoint: $0.endpoint, mark: mark.flatMap { $0 == 0 ? nil : $0 }) }
    }

    /// `struct sockaddr_in` or `struct sockaddr_in6`.
    private static func address(ofSocketAddress octets: ArraySlice<UInt8>) -> IPAddress? {
        switch octets.u16(at: 0).map(Int32.init) {
        case AF_INET: IPAddress(octets: octets.dropFirst(4).prefix(4))
        case AF_INET6: IPAddress(octets: octets.dropFirst(8).prefix(16))
        default: nil
        }
    }
}
