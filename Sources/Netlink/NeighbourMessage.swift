internal import CNetlink
internal import Glibc
public import MeasurementModel

/// What the kernel knows of a neighbour's link-layer address (`NUD_…` of linux/neighbour.h, after RFC 4861, section 7.3.2).
public enum NeighbourState: String, Sendable, Hashable, CaseIterable {
    /// Nothing: there is no entry, or one in which nobody has asked for anything.
    case none
    /// Asked for, and not answered so far.
    case incomplete
    /// Confirmed not long ago.
    case reachable
    /// Confirmed too long ago to be certain.
    case stale
    /// As stale; a packet went there, and the layers above have a moment to confirm it.
    case delay
    /// As stale; the neighbour is asked directly.
    case probe
    /// It did not answer.
    case failed
    /// On this kind of link nothing is resolved.
    case noarp
    /// Set by hand: never asked for, never confirmed.
    case permanent

    /// Nil for a number that names no state.
    init?(number: UInt16) {
        switch Int32(number) {
        case NUD_NONE: self = .none
        case NUD_INCOMPLETE: self = .incomplete
        case NUD_REACHABLE: self = .reachable
        case NUD_STALE: self = .stale
        case NUD_DELAY: self = .delay
        case NUD_PROBE: self = .probe
        case NUD_FAILED: self = .failed
        case NUD_NOARP: self = .noarp
        case NUD_PERMANENT: self = .permanent
        default: return nil
        }
    }
}

/// An entry of the kernel's neighbour table (`RTM_NEWNEIGH`), without its link-layer address: that would identify a device.
public struct NeighbourMessage: Sendable, Hashable {
    /// The link that the neighbour is on.
    public let index: Int32
    public let address: IPAddress
    public let state: NeighbourState
    /// How long ago the kernel noted a confirmation. An entry that was never confirmed carries an old date that means nothing: only
    /// ``NeighbourState/reachable`` vouches for it.
    public let sinceConfirmed: Duration?

    public init(index: Int32, address: IPAddress, state: NeighbourState, sinceConfirmed: Duration? = nil) {
        self.index = index
        self.address = address
        self.state = state
        self.sinceConfirmed = sinceConfirmed
    }

    /// Decodes `struct ndmsg` and what follows; nil where a part without which it means nothing is missing.
    public init?(_ payload: ArraySlice<UInt8>) {
        guard let number = payload.u8(at: 0), let family = IPAddress.Family(number: number), let index = payload.s32(at: 4), index > 0,
            let state = payload.u16(at: 8).flatMap(NeighbourState.init), payload.count >= 12
        else { return nil }
        let attributes = AttributeDecoder(payload.dropFirst(12))
        guard let address = attributes.payload(NDA_DST).flatMap({ IPAddress(octets: $0) }), address.family == family else { return nil }
        // struct nda_cacheinfo begins with the age of the confirmation, in clock ticks as user space counts them.
        let ticks = attributes.payload(NDA_CACHEINFO)?.u32(at: 0)
        self.init(index: index, address: address, state: state, sinceConfirmed: ticks.map { .milliseconds(Int64($0) * Self.tick) })
    }

    /// Milliseconds.
    private static let tick = 1000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
}
