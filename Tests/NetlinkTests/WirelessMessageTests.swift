import CNetlink
import MeasurementModel
import Testing

@testable import Netlink

/// nl80211 messages as kernels send them: built attribute by attribute after what was seen on Linux 6.1 and 6.12 with simulated radios.
struct WirelessMessageTests {
    private static let mac: [UInt8] = [0x02, 0, 0, 0, 0x01, 0]

    private static func attributes(_ build: (inout MessageBuilder) -> Void) -> [UInt8] {
        var builder = MessageBuilder()
        build(&builder)
        return builder.octets
    }

    private static func interface(ssid: [UInt8]?, frequency: UInt32? = 2412, width: UInt32 = NL80211_CHAN_WIDTH_20.rawValue)
        -> WirelessInterface?
    {
        WirelessInterface(
            attributes { message in
                message.attribute(NL80211_ATTR_IFINDEX.rawValue, u32: 3)
                message.attribute(NL80211_ATTR_IFNAME.rawValue, text: "wlan0")
                message.attribute(NL80211_ATTR_IFTYPE.rawValue, u32: NL80211_IFTYPE_STATION.rawValue)
                message.attribute(NL80211_ATTR_MAC.rawValue, mac)
                if let ssid { message.attribute(NL80211_ATTR_SSID.rawValue, ssid) }
                if let frequency { message.attribute(NL80211_ATTR_WIPHY_FREQ.rawValue, u32: frequency) }
                message.attribute(NL80211_ATTR_CHANNEL_WIDTH.rawValue, u32: width)
                // Linux 6.12 knows attributes that these headers do not.
                message.attribute(UInt16(333), u32: 1)
            }[...])
    }

    private static func bss(elements: [UInt8]?, beacon: [UInt8]? = nil, associated: Bool = true, level: Int32 = -4050) -> WirelessBSS? {
        WirelessBSS(
            attributes { message in
                message.attribute(
                    NL80211_ATTR_BSS.rawValue,
                    attributes { bss in
                        bss.attribute(NL80211_BSS_BSSID.rawValue, mac)
                        bss.attribute(NL80211_BSS_FREQUENCY.rawValue, u32: 5180)
                        bss.attribute(NL80211_BSS_SIGNAL_MBM.rawValue, u32: UInt32(bitPattern: level))
                        if let elements { bss.attribute(NL80211_BSS_INFORMATION_ELEMENTS.rawValue, elements) }
                        if let beacon { bss.attribute(NL80211_BSS_BEACON_IES.rawValue, beacon) }
                        if associated { bss.attribute(NL80211_BSS_STATUS.rawValue, u32: NL80211_BSS_STATUS_ASSOCIATED.rawValue) }
                    })
            }[...])
    }

    private static func element(_ ssid: [UInt8]) -> [UInt8] { [0, UInt8(ssid.count)] + ssid + [1, 1, 0x82] }

    @Test(
        "P39 P40 R-16 Names of any octets come through as they are",
        arguments: [
            [0xB2, 0xE2, 0xCA, 0xD4], [UInt8](repeating: 0xFF, count: 32), [0xFF, 0xFE, 0x00, 0xC3, 0x28], Array("caf\u{e9}".utf8), [0x20],
        ] as [[UInt8]])
    func names(ssid: [UInt8]) {
        #expect(Self.bss(elements: Self.element(ssid))?.ssid == ssid)
        #expect(Self.interface(ssid: ssid)?.ssid == ssid)
    }

    @Test("P38 An empty name, or one of zeros, is hidden and so not known; the probe response reveals it")
    func hidden() {
        #expect(Self.bss(elements: Self.element([]))?.ssid == nil)
        #expect(Self.bss(elements: Self.element([0, 0, 0, 0]))?.ssid == nil)
        #expect(Self.bss(elements: Self.element(Array("secret".utf8)), beacon: Self.element([]))?.ssid == Array("secret".utf8))
        #expect(Self.bss(elements: nil, beacon: Self.element(Array("seen".utf8)))?.ssid == Array("seen".utf8))
        #expect(SSID.visible([]) == nil)
        #expect(SSID.visible([0, 0]) == nil)
        #expect(SSID.visible([UInt8](repeating: 1, count: 33)) == nil)
        // A length beyond the end, and a name after other elements.
        #expect(SSID.inElements([0, 9, 1]) == nil)
        #expect(SSID.inElements([1, 1, 0x82, 0, 1, 0x41]) == [0x41])
    }

    @Test("P44 Not associated: no frequency, and no entry with the mark")
    func notAssociated() {
        let interface = Self.interface(ssid: nil, frequency: nil)
        #expect(interface?.isStation == true)
        #expect(interface?.frequency == nil)
        #expect(Self.bss(elements: Self.element([0x41]), associated: false)?.isAssociated == false)
        #expect(Self.bss(elements: Self.element([0x41]))?.isAssociated == true)
    }

    @Test("A P2P device has no index and is no interface; an access point is no station")
    func otherModes() {
        let p2p = Self.attributes {
            $0.attribute(NL80211_ATTR_IFTYPE.rawValue, u32: NL80211_IFTYPE_P2P_DEVICE.rawValue)
            $0.attribute(NL80211_ATTR_MAC.rawValue, Self.mac)
        }
        #expect(WirelessInterface(p2p[...]) == nil)
        let ap = Self.attributes {
            $0.attribute(NL80211_ATTR_IFINDEX.rawValue, u32: 3)
            $0.attribute(NL80211_ATTR_IFTYPE.rawValue, u32: NL80211_IFTYPE_AP.rawValue)
        }
        #expect(WirelessInterface(ap[...])?.isStation == false)
        #expect(WirelessInterface(ap[...])?.isAccessPoint == true)
    }

    @Test("Signal in dBm, rates in units of 100 kbit/s, the standard from the modulation; 0 is not a level")
    func station() {
        func station(signal: Int8, rate: (inout MessageBuilder) -> Void) -> WirelessStation? {
            WirelessStation(
                Self.attributes { message in
                    message.attribute(NL80211_ATTR_MAC.rawValue, Self.mac)
                    message.attribute(
                        NL80211_ATTR_STA_INFO.rawValue,
                        Self.attributes { info in
                            info.attribute(NL80211_STA_INFO_SIGNAL.rawValue, [UInt8(bitPattern: signal)])
                            info.attribute(NL80211_STA_INFO_SIGNAL_AVG.rawValue, [UInt8(bitPattern: signal)])
                            info.attribute(NL80211_STA_INFO_TX_BITRATE.rawValue, Self.attributes(rate))
                        })
                }[...])
        }
        let ax = station(signal: -61) {
            $0.attribute(NL80211_RATE_INFO_BITRATE32.rawValue, u32: 11340)
            $0.attribute(NL80211_RATE_INFO_BITRATE.rawValue, [0, 0])
            $0.attribute(NL80211_RATE_INFO_HE_MCS.rawValue, [11])
        }
        #expect(ax?.signal == -61)
        #expect(ax?.transmitRate?.megabitsPerSecond == 1134)
        #expect(ax?.transmitRate?.standard == "802.11ax")
        #expect(ax?.receiveRate == nil)
        let old = station(signal: 0) { $0.attribute(NL80211_RATE_INFO_BITRATE.rawValue, [0x37, 0x00]) }
        #expect(old?.signal == nil)
        #expect(old?.averageSignal == nil)
        #expect(old?.transmitRate?.megabitsPerSecond == 5.5)
        #expect(old?.transmitRate?.standard == nil)
    }

    @Test("The level of a scan result is rounded to whole dBm")
    func level() {
        #expect(Self.bss(elements: nil, level: -4050)?.signal == -41)
        #expect(Self.bss(elements: nil, level: -4049)?.signal == -40)
        #expect(Self.bss(elements: nil, level: -4000)?.signal == -40)
        #expect(Self.bss(elements: nil, level: 0)?.signal == nil)
    }

    @Test(
        "Channel numbers by frequency",
        arguments: [(2412, 1), (2472, 13), (2484, 14), (5180, 36), (5885, 177), (5955, 1), (7115, 233), (5935, 2), (58320, 1)])
    func channels(frequency: Int, channel: Int) { #expect(WirelessChannel.number(frequency: frequency) == channel) }

    @Test("Outside the plans there is no channel", arguments: [0, 2400, 2413, 5181, 7120])
    func noChannel(frequency: Int) { #expect(WirelessChannel.number(frequency: frequency) == nil) }

    @Test("P42 A kernel without nl80211 is an answer and not an error")
    func noWireless() throws {
        // On a machine with Wi-Fi support the questions are there; in both cases nothing is thrown.
        _ = try WirelessQuestions()
        _ = try WirelessMonitor()
    }
}
