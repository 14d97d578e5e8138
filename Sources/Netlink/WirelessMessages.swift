internal import CNetlink

/// A wireless device as nl80211 describes it (`NL80211_CMD_NEW_INTERFACE`, linux/nl80211.h).
public struct WirelessInterface: Sendable, Hashable {
    public let index: Int32
    /// `NL80211_IFTYPE_…`.
    public let type: UInt32
    /// As the interface query tells it: many drivers leave it out for a joined station.
    public let ssid: [UInt8]?
    public let macAddress: [UInt8]?
    /// MHz; nil while not associated.
    public let frequency: Int?
    /// MHz.
    public let channelWidth: Int?

    public var isStation: Bool { type == UInt32(NL80211_IFTYPE_STATION.rawValue) }
    public var isAccessPoint: Bool { type == UInt32(NL80211_IFTYPE_AP.rawValue) || type == UInt32(NL80211_IFTYPE_AP_VLAN.rawValue) }

    /// Decodes the attributes behind `struct genlmsghdr`.
    public init?(_ payload: ArraySlice<UInt8>) {
        var attributes = AttributeDecoder(payload)
        // A P2P device has no index: it is no network interface.
        guard let index = attributes.index(NL80211_ATTR_IFINDEX.rawValue), let type = attributes.u32(NL80211_ATTR_IFTYPE.rawValue) else {
            return nil
        }
        self.index = index
        self.type = type
        ssid = attributes.payload(NL80211_ATTR_SSID.rawValue).map(Array.init)
        macAddress = attributes.payload(NL80211_ATTR_MAC.rawValue).flatMap { $0.count == 6 ? Array($0) : nil }
        frequency = attributes.u32(NL80211_ATTR_WIPHY_FREQ.rawValue).flatMap { $0 > 0 ? Int($0) : nil }
        channelWidth = attributes.u32(NL80211_ATTR_CHANNEL_WIDTH.rawValue).flatMap(Self.megahertz)
    }

    /// `enum nl80211_chan_width` in MHz.
    private static func megahertz(_ width: UInt32) -> Int? {
        switch width {
        case NL80211_CHAN_WIDTH_20_NOHT.rawValue, NL80211_CHAN_WIDTH_20.rawValue: 20
        case NL80211_CHAN_WIDTH_40.rawValue: 40
        case NL80211_CHAN_WIDTH_80.rawValue: 80
        // 80+80 occupies two times 80 MHz.
        case NL80211_CHAN_WIDTH_80P80.rawValue, NL80211_CHAN_WIDTH_160.rawValue: 160
        case NL80211_CHAN_WIDTH_5.rawValue: 5
        case NL80211_CHAN_WIDTH_10.rawValue: 10
        case NL80211_CHAN_WIDTH_320.rawValue: 320
        case NL80211_CHAN_WIDTH_1.rawValue: 1
        case NL80211_CHAN_WIDTH_2.rawValue: 2
        case NL80211_CHAN_WIDTH_4.rawValue: 4
        case NL80211_CHAN_WIDTH_8.rawValue: 8
        case NL80211_CHAN_WIDTH_16.rawValue: 16
        default: nil
        }
    }
}

/// The peer of a station (`NL80211_CMD_NEW_STATION`): for a client, its access point.
public struct WirelessStation: Sendable, Hashable {
    /// BSSID, or the MLD address of a multi-link association.
    public let macAddress: [UInt8]
    /// dBm of the last frame (`NL80211_STA_INFO_SIGNAL`).
    public let signal: Int?
    /// dBm, the driver's moving average (`NL80211_STA_INFO_SIGNAL_AVG`).
    public let averageSignal: Int?
    public let transmitRate: WirelessRate?
    public let receiveRate: WirelessRate?

    /// Decodes the attributes behind `struct genlmsghdr`.
    public init?(_ payload: ArraySlice<UInt8>) {
        let attributes = AttributeDecoder(payload)
        guard let mac = attributes.payload(NL80211_ATTR_MAC.rawValue), mac.count == 6 else { return nil }
        macAddress = Array(mac)
        var info = attributes.nested(NL80211_ATTR_STA_INFO.rawValue)
        // A level of 0 dBm or more is a driver that knows none.
        signal = info?.s8(NL80211_STA_INFO_SIGNAL.rawValue).flatMap { $0 < 0 ? Int($0) : nil }
        averageSignal = info?.s8(NL80211_STA_INFO_SIGNAL_AVG.rawValue).flatMap { $0 < 0 ? Int($0) : nil }
        transmitRate = info?.nested(NL80211_STA_INFO_TX_BITRATE.rawValue).flatMap(WirelessRate.init)
        receiveRate = info?.nested(NL80211_STA_INFO_RX_BITRATE.rawValue).flatMap(WirelessRate.init)
    }
}

/// `NL80211_RATE_INFO_…`.
public struct WirelessRate: Sendable, Hashable {
    /// Mbit/s; the kernel's unit is 100 kbit/s.
    public let megabitsPerSecond: Double?
    /// The standard whose modulation the rate belongs to, such as `802.11ax`; nil for the old rates, which several share.
    public let standard: String?

    init?(_ attributes: AttributeDecoder) {
        var attributes = attributes
        // The 16-bit attribute stays 0 for rates that it cannot hold.
        let units =
            attributes.u32(NL80211_RATE_INFO_BITRATE32.rawValue) ?? attributes.u16(NL80211_RATE_INFO_BITRATE.rawValue).map(UInt32.init)
        megabitsPerSecond = units.flatMap { $0 > 0 ? Double($0) / 10 : nil }
        let families = [
            (NL80211_RATE_INFO_EHT_MCS.rawValue, "802.11be"), (NL80211_RATE_INFO_HE_MCS.rawValue, "802.11ax"),
            (NL80211_RATE_INFO_VHT_MCS.rawValue, "802.11ac"), (NL80211_RATE_INFO_MCS.rawValue, "802.11n"),
        ]
        standard = families.first { attributes.has($0.0) }?.1
        if megabitsPerSecond == nil, standard == nil { return nil }
    }
}

/// One entry of the scan results (`NL80211_CMD_NEW_SCAN_RESULTS`).
public struct WirelessBSS: Sendable, Hashable {
    public let bssid: [UInt8]
    /// `NL80211_BSS_STATUS_ASSOCIATED`.
    public let isAssociated: Bool
    /// MHz.
    public let frequency: Int?
    /// dBm of the beacon or probe response.
    public let signal: Int?
    /// Octets of the SSID element; nil where there is none or it hides the name.
    public let ssid: [UInt8]?
    /// Of a multi-link association.
    public let linkID: Int?
    public let mldAddress: [UInt8]?

    /// Decodes the attributes behind `struct genlmsghdr`.
    public init?(_ payload: ArraySlice<UInt8>) {
        guard var bss = AttributeDecoder(payload).nested(NL80211_ATTR_BSS.rawValue) else { return nil }
        guard let bssid = bss.payload(NL80211_BSS_BSSID.rawValue), bssid.count == 6 else { return nil }
        self.bssid = Array(bssid)
        isAssociated = bss.u32(NL80211_BSS_STATUS.rawValue) == UInt32(NL80211_BSS_STATUS_ASSOCIATED.rawValue)
        frequency = bss.u32(NL80211_BSS_FREQUENCY.rawValue).flatMap { $0 > 0 ? Int($0) : nil }
        signal = bss.s32(NL80211_BSS_SIGNAL_MBM.rawValue).flatMap { $0 < 0 ? Int(($0 - 50) / 100) : nil }
        // Probe responses reveal a name that beacons hide.
        let elements = [NL80211_BSS_INFORMATION_ELEMENTS.rawValue, NL80211_BSS_BEACON_IES.rawValue]
        ssid = elements.lazy.compactMap { bss.payload($0) }.compactMap { SSID.inElements($0) }.first
        linkID = bss.u8(NL80211_BSS_MLO_LINK_ID.rawValue).map(Int.init)
        mldAddress = bss.payload(NL80211_BSS_MLD_ADDR.rawValue).flatMap { $0.count == 6 ? Array($0) : nil }
    }
}

/// The name of a Wi-Fi network: up to 32 octets, of any value (IEEE 802.11-2020, 9.4.2.2).
public enum SSID {
    /// The name in a run of information elements (id, length, content); nil where it is missing, too long, or hidden.
    static func inElements(_ elements: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = elements
        while let id = rest.u8(at: 0), let length = rest.u8(at: 1), rest.count >= 2 + Int(length) {
            let content = rest.dropFirst(2).prefix(Int(length))
            if id == 0 { return visible(content) }
            rest = rest.dropFirst(2 + Int(length))
        }
        return nil
    }

    /// The octets of a name that is one: not empty, at most 32 octets, and not all zero, which is how access points hide theirs.
    public static func visible(_ octets: some Collection<UInt8>) -> [UInt8]? {
        guard (1...32).contains(octets.count), octets.contains(where: { $0 != 0 }) else { return nil }
        return Array(octets)
    }
}

/// Channel numbers by frequency (IEEE 802.11-2020 annex E; 802.11ax for 6 GHz).
public enum WirelessChannel {
    /// - Parameter frequency: of the primary channel, in MHz.
    /// - Returns: nil outside the channel plans.
    public static func number(frequency: Int) -> Int? {
        switch frequency {
        case 2484: 14
        case 2412...2472 where (frequency - 2407) % 5 == 0: (frequency - 2407) / 5
        case 4910...4980 where frequency % 5 == 0: (frequency - 4000) / 5
        case 5035...5885 where frequency % 5 == 0: (frequency - 5000) / 5
        case 5935: 2
        case 5955...7115 where (frequency - 5950) % 5 == 0: (frequency - 5950) / 5
        case 58320...70200 where (frequency - 56160) % 2160 == 0: (frequency - 56160) / 2160
        default: nil
        }
    }
}
