internal import CLinux
internal import Glibc

/// An IPv4 or IPv6 address, without a zone.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// IPv4 or IPv6.
    public enum Family: Sendable, Hashable, CaseIterable {
        case ipv4, ipv6

        /// `AF_INET` or `AF_INET6`.
        public var number: UInt8 { UInt8(self == .ipv4 ? AF_INET : AF_INET6) }

        public init?(number: UInt8) {
            switch Int32(number) {
            case AF_INET: self = .ipv4
            case AF_INET6: self = .ipv6
            default: return nil
            }
        }

        /// Bits of an address.
        public var bits: Int { self == .ipv4 ? 32 : 128 }
    }

    /// Four or sixteen octets in network order.
    public let octets: [UInt8]

    /// Nil unless there are four or sixteen octets.
    public init?(octets: some Collection<UInt8>) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = Array(octets)
    }

    /// Reads what inet_pton(3) accepts: no zone, no port, no brackets. An IPv4-mapped IPv6 address stays what it is.
    public init?(_ text: String) {
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            octets = Array(buffer.prefix(4))
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            octets = buffer
        } else {
            return nil
        }
    }

    public var family: Family { octets.count == 4 ? .ipv4 : .ipv6 }

    public var isUnspecified: Bool { octets.allSatisfy { $0 == 0 } }

    public var isLoopback: Bool {
        family == .ipv4 ? octets[0] == 127 : octets.dropLast().allSatisfy { $0 == 0 } && octets[15] == 1
    }

    /// 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        family == .ipv4 ? octets[0] == 169 && octets[1] == 254 : octets[0] == 0xFE && octets[1] & 0xC0 == 0x80
    }

    /// The address with all bits after the prefix cleared.
    public func network(prefixLength: Int) -> IPAddress {
        var masked = octets
        for index in masked.indices {
            let bits = min(8, max(0, prefixLength - index * 8))
            masked[index] &= bits == 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
        return IPAddress(octets: masked)!
    }

    /// The usual text form (RFC 5952 for IPv6).
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(Int32(family.number), octets, &text, socklen_t(text.count))
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
