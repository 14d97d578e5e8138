internal import CNetlink
internal import Glibc

/// Questions to nl80211, the kernel's interface to Wi-Fi (linux/nl80211.h). None needs a privilege, and none starts a scan.
public final class WirelessQuestions {
    private let socket: NetlinkSocket
    private let family: UInt16

    /// - Returns: nil where the kernel has no nl80211: an answer, not an error.
    /// - Throws: ``NetlinkError`` when even the question failed.
    public init?() throws(NetlinkError) {
        socket = try NetlinkSocket(.generic)
        guard let family = try socket.resolveFamily("nl80211") else { return nil }
        self.family = family
    }

    /// The wireless side of a network interface; nil where it has none.
    public func interface(_ index: Int32) throws(NetlinkError) -> WirelessInterface? {
        try ask(NL80211_CMD_GET_INTERFACE.rawValue, about: index).lazy.compactMap(WirelessInterface.init).first
    }

    /// The station entries of an interface: for an associated client one, its access point.
    public func stations(_ index: Int32) throws(NetlinkError) -> [WirelessStation] {
        try ask(NL80211_CMD_GET_STATION.rawValue, about: index, isDump: true).compactMap(WirelessStation.init)
    }

    /// The scan results that the kernel keeps, of which the associated ones are marked.
    public func scanResults(_ index: Int32) throws(NetlinkError) -> [WirelessBSS] {
        try ask(NL80211_CMD_GET_SCAN.rawValue, about: index, isDump: true).compactMap(WirelessBSS.init)
    }

    private func ask(_ command: UInt32, about index: Int32, isDump: Bool = false) throws(NetlinkError) -> [ArraySlice<UInt8>] {
        var body = MessageBuilder()
        body.u8(UInt8(command))
        body.zeros(3)
        body.attribute(NL80211_ATTR_IFINDEX.rawValue, u32: UInt32(index))
        do {
            let answers =
                isDump
                ? try socket.dump(type: family, body: body.octets) : try socket.request(type: family, flags: 0, body: body.octets)
            return answers.map { $0.payload.dropFirst(WirelessMonitor.headerSize) }
        } catch {
            switch error.errno {
            // No such device, no wireless side, or a mode without stations.
            case ENODEV, EOPNOTSUPP, ENOENT, EINVAL, ENOTCONN, ENONET: return []
            default: throw error
            }
        }
    }
}

/// Listens for what happens to Wi-Fi associations.
public final class WirelessMonitor {
    private let socket: NetlinkSocket

    public var descriptor: Int32 { socket.descriptor }

    /// `GENL_HDRLEN`: struct genlmsghdr.
    static let headerSize = 4

    /// - Returns: nil where the kernel has no nl80211.
    /// - Throws: ``NetlinkError``.
    public init?(receiveBuffer: Int32? = nil) throws(NetlinkError) {
        socket = try NetlinkSocket(.generic, receiveBuffer: receiveBuffer ?? 1 << 18)
        guard try socket.resolveFamily("nl80211") != nil else { return nil }
        for group in ["mlme", "config"] {
            guard let number = socket.resolveGroup("nl80211", group) else { continue }
            try socket.join(group: number)
        }
        socket.becomeNonBlocking()
    }

    /// Reads what has come, without waiting.
    public func drain() throws(NetlinkError) -> NetworkMonitor.Drained {
        var result = NetworkMonitor.Drained()
        for _ in 0..<512 {
            switch try socket.read() {
            case .empty: return result
            case .overrun: result.isOverrun = true
            case .datagram(let datagram):
                for message in NetlinkMessage.all(in: datagram) {
                    if Self.isNews(message.payload.u8(at: 0)) { result.news += 1 } else { result.repeats += 1 }
                }
            }
        }
        return result
    }

    /// Frames and acknowledgements of key exchanges pass by the hundred; these commands change an association.
    private static func isNews(_ command: UInt8?) -> Bool {
        guard let command else { return false }
        let commands = [
            NL80211_CMD_NEW_INTERFACE, NL80211_CMD_DEL_INTERFACE, NL80211_CMD_SET_INTERFACE, NL80211_CMD_NEW_STATION,
            NL80211_CMD_DEL_STATION, NL80211_CMD_CONNECT, NL80211_CMD_DISCONNECT, NL80211_CMD_ROAM, NL80211_CMD_ASSOCIATE,
            NL80211_CMD_DISASSOCIATE, NL80211_CMD_DEAUTHENTICATE, NL80211_CMD_CH_SWITCH_NOTIFY, NL80211_CMD_NOTIFY_CQM,
            NL80211_CMD_DEL_WIPHY,
        ]
        return commands.contains { UInt32(command) == $0.rawValue }
    }
}

extension NetlinkSocket {
    /// The number of a generic netlink family; nil where the kernel has none of that name.
    func resolveFamily(_ name: String) throws(NetlinkError) -> UInt16? {
        let number = genl_ctrl_resolve(handle, name)
        if number >= 0 { return UInt16(number) }
        guard number == -NLE_OBJ_NOTFOUND else { throw NetlinkError(libnl: number) }
        return nil
    }

    func resolveGroup(_ family: String, _ group: String) -> Int32? {
        let number = genl_ctrl_resolve_grp(handle, family, group)
        return number >= 0 ? number : nil
    }
}
