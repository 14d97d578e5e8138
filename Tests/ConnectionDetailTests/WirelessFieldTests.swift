import CNetlink
import MeasurementModel
import Netlink
import Testing

@testable import ConnectionDetail

/// From nl80211's messages to the fields of a snapshot, without a radio.
struct WirelessFieldTests {
    private static let mac: [UInt8] = [0x02, 0, 0, 0, 0x0A, 0xFF]

    /// Attributes as the kernel lays them out: length, type, payload, padding.
    private static func attribute(_ type: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt16(4 + payload.count)
        return [UInt8(length & 255), UInt8(length >> 8), UInt8(type & 255), UInt8(type >> 8)] + payload
            + [UInt8](repeating: 0, count: -payload.count & 3)
    }

    private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    private static func association(
        ssid: [UInt8], signal: Int8? = -61, average: Int8? = nil, inInterface: [UInt8]? = nil, links: [(id: UInt8, mac: [UInt8])] = []
    ) -> PathFacts.Association {
        var interface =
            attribute(NL80211_ATTR_IFINDEX.rawValue, number(3))
            + attribute(NL80211_ATTR_IFTYPE.rawValue, number(NL80211_IFTYPE_STATION.rawValue))
        if links.isEmpty { interface += attribute(NL80211_ATTR_WIPHY_FREQ.rawValue, number(5180)) }
        if let inInterface { interface += attribute(NL80211_ATTR_SSID.rawValue, inInterface) }
        var info: [UInt8] = []
        if let signal { info += attribute(NL80211_STA_INFO_SIGNAL.rawValue, [UInt8(bitPattern: signal)]) }
        if let average { info += attribute(NL80211_STA_INFO_SIGNAL_AVG.rawValue, [UInt8(bitPattern: average)]) }
        let station = attribute(NL80211_ATTR_MAC.rawValue, mac) + attribute(NL80211_ATTR_STA_INFO.rawValue, info)
        let entries = links.isEmpty ? [(id: UInt8?.none, mac: mac)] : links.map { (id: Optional($0.id), mac: $0.mac) }
        let bss = entries.map { entry in
            var body =
                attribute(NL80211_BSS_BSSID.rawValue, entry.mac)
                + attribute(NL80211_BSS_STATUS.rawValue, number(NL80211_BSS_STATUS_ASSOCIATED.rawValue))
                + attribute(NL80211_BSS_INFORMATION_ELEMENTS.rawValue, [0, UInt8(ssid.count)] + ssid)
                + attribute(NL80211_BSS_FREQUENCY.rawValue, number(entry.id == 1 ? 6135 : 5180))
            if let id = entry.id {
                body += attribute(NL80211_BSS_MLO_LINK_ID.rawValue, [id]) + attribute(NL80211_BSS_MLD_ADDR.rawValue, mac)
            }
            return attribute(NL80211_ATTR_BSS.rawValue, body)
        }
        return PathFacts.Association(
            interface: WirelessInterface(interface[...])!, station: WirelessStation(station[...]), bss: bss.map { WirelessBSS($0[...])! })
    }

    private static func fields(_ association: PathFacts.Association) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        association.add(to: &values)
        return values
    }

    @Test(
        "P39 P40 R-16 The octets of a name are kept; text stands there only if they are UTF-8",
        arguments: [
            ([0xB2, 0xE2, 0xCA, 0xD4], nil, "b2e2cad4"), ([UInt8](repeating: 0xFF, count: 32), nil, String(repeating: "ff", count: 32)),
            ([0xFF, 0xFE, 0x00, 0xC3, 0x28], nil, "fffe00c328"), ([0x41, 0x00, 0x42], "A\0B", "410042"),
            (Array("caf\u{e9}".utf8), "caf\u{e9}", "636166c3a9"), ([0x0A], "\n", "0a"),
        ] as [([UInt8], String?, String)])
    func names(octets: [UInt8], text: String?, hex: String) {
        let values = Self.fields(Self.association(ssid: octets))
        #expect(values["ssid_hex"] == .text(hex))
        #expect(values["ssid"] == text.map(FieldValue.text))
    }

    @Test("P38 An empty name of the interface is not the network's: the scan result knows it")
    func hidden() {
        let values = Self.fields(Self.association(ssid: Array("secret".utf8), inInterface: []))
        #expect(values["ssid"] == .text("secret"))
        let unknown = Self.fields(Self.association(ssid: [], inInterface: []))
        #expect(unknown["ssid"] == nil && unknown["ssid_hex"] == nil)
        #expect(unknown["bssid"] == .text("02:00:00:00:0a:ff"))
    }

    @Test(
        "Signal: the last frame's, else the average; from 0 to 100 between -100 and -50 dBm",
        arguments: [(-61, -70, -61, 78), (nil, -70, -70, 60), (-110, nil, -110, 0), (-20, nil, -20, 100)] as [(Int8?, Int8?, Int, Int)])
    func signal(last: Int8?, average: Int8?, rssi: Int, strength: Int) {
        let values = Self.fields(Self.association(ssid: [0x41], signal: last, average: average))
        #expect(values["rssi"] == .integer(rssi))
        #expect(values["signal_strength"] == .integer(strength))
        #expect(values["frequency"] == .integer(5180) && values["channel"] == .integer(36))
    }

    @Test("P45 P46 R-16 A multi-link association shows all links and the address over them; what is missing is left out and not zero")
    func multiLink() {
        let first: [UInt8] = [2, 0, 0, 0, 0, 1]
        let second: [UInt8] = [2, 0, 0, 0, 0, 2]
        let values = Self.fields(Self.association(ssid: [0x41], signal: nil, links: [(1, second), (0, first)]))
        #expect(
            values["mlo_links"]
                == .records([
                    ["link_id": .integer(0), "bssid": .text("02:00:00:00:00:01"), "frequency": .integer(5180)],
                    ["link_id": .integer(1), "bssid": .text("02:00:00:00:00:02"), "frequency": .integer(6135)],
                ]))
        #expect(values["mld_address"] == .text("02:00:00:00:0a:ff"))
        #expect(values["rssi"] == nil && values["signal_strength"] == nil)
    }

    @Test("P44 R-19 Not associated: a type and no association")
    func notAssociated() {
        var facts = PathFacts()
        let link = LinkMessage(index: 3, name: "wlan0", hardwareType: 1, flags: 0x11043, mtu: 1500)
        let source = AddressMessage(index: 3, local: IPAddress("192.0.2.2")!, prefixLength: 24)
        facts.ipv4 = PathFacts.FamilyPath(
            route: RouteMessage(family: .ipv4, type: 1, outputIndex: 3, source: source.local), link: link, address: source.local,
            entry: source)
        facts.stack = LinkStack(type: .wifi, source: "nl80211", bottom: (link, .wifi), isTunnel: false)
        #expect(facts.fields["type"] == .text("wifi"))
        #expect(facts.fields.keys.filter { $0.contains("ssid") || $0 == "rssi" }.isEmpty)
    }
}
