internal import CNetlink
internal import Glibc
internal import MeasurementModel

/// Tells events that say something new from those that repeat what is known: a router advertisement that renews lifetimes, a counter,
/// an interface that turns promiscuous. What it dismisses never wakes the questions to the kernel.
///
/// It is only a sieve and never a mirror: whatever it cannot read, or may have missed, counts as new.
public struct EventMemory: Sendable {
    private struct AddressKey: Hashable {
        let index: Int32
        let local: IPAddress
        let peer: IPAddress
        let prefixLength: Int
    }

    private var links: [Int32: LinkMessage] = [:]
    private var addresses: [AddressKey: UInt32] = [:]

    /// Beyond it the memory starts anew, which costs some needless questions.
    private static let limit = 4096

    public init() {}

    /// Forgets everything: after a loss nothing remembered is certain.
    public mutating func forget() {
        links = [:]
        addresses = [:]
    }

    public mutating func isNews(_ message: NetlinkMessage) -> Bool {
        if links.count + addresses.count > Self.limit { forget() }
        switch Int(message.type) {
        case RTM_NEWLINK: return isNewsOfLink(message)
        case RTM_DELLINK:
            guard let link = LinkMessage(message.payload) else { return true }
            links[link.index] = nil
            // IPv4 addresses can go with their link without a word.
            addresses = addresses.filter { $0.key.index != link.index }
            return true
        case RTM_NEWADDR:
            guard let address = AddressMessage(message.payload) else { return true }
            return addresses.updateValue(address.flags, forKey: Self.key(address)) != address.flags
        case RTM_DELADDR:
            if let address = AddressMessage(message.payload) { addresses[Self.key(address)] = nil }
            return true
        default: return true
        }
    }

    private mutating func isNewsOfLink(_ message: NetlinkMessage) -> Bool {
        // What a bridge says of its ports (AF_BRIDGE) describes the port's role only.
        guard message.payload.u8(at: 0) == UInt8(AF_UNSPEC), let link = LinkMessage(message.payload) else { return true }
        let meaning = link.keeping(flags: UInt32(IFF_UP.rawValue | IFF_RUNNING.rawValue | IFF_LOOPBACK.rawValue) | LinkMessage.lowerUp)
        guard links.updateValue(meaning, forKey: link.index) == meaning else {
            // A link that goes down may lose its addresses silently: the same ones afterwards are news.
            addresses = addresses.filter { $0.key.index != link.index }
            return true
        }
        return false
    }

    private static func key(_ address: AddressMessage) -> AddressKey {
        AddressKey(index: address.index, local: address.local, peer: address.peer, prefixLength: address.prefixLength)
    }
}

extension LinkMessage {
    /// `IFF_LOWER_UP` of linux/if.h, which glibc's net/if.h leaves out.
    static let lowerUp: UInt32 = 0x10000

    fileprivate func keeping(flags mask: UInt32) -> LinkMessage {
        LinkMessage(
            index: index, name: name, hardwareType: hardwareType, flags: flags & mask, mtu: mtu, address: address, kind: kind, lower: lower,
            master: master, activePort: activePort, tunnelRemote: tunnelRemote, tunnelMark: tunnelMark)
    }
}
