internal import MeasurementModel

/// The fields of `connection_detail_trace`, in the order of a snapshot.
enum ConnectionFields {
    static let all: [FieldDeclaration] = path + wireless + cellular

    private static let path: [FieldDeclaration] = [
        .text("type", privacy: .connectionContext, about: "wifi, cellular, ethernet, vpn, bluetooth, loopback, other or none"),
        .text("interface", privacy: .connectionContext, about: "Name of the active interface"),
        .bool("is_internet_reachable", privacy: .connectionContext, about: "The kernel has a usable path to the target"),
        .bool("is_connection_expensive", privacy: .connectionContext, about: "The path is metered"),
        .text("ip_address", privacy: .connectionContext, about: "Source address that the kernel would use"),
        .integer("prefix_length", unit: .bits, privacy: .connectionContext, about: "Prefix length of that address"),
        .text("subnet", privacy: .connectionContext, about: "Network of that address"),
        .text("gateway", privacy: .connectionContext, about: "Next hop"),
        .text("ipv6_address", privacy: .connectionContext, about: "Source address of the IPv6 path beside an IPv4 path"),
        .integer("ipv6_prefix_length", unit: .bits, privacy: .connectionContext, about: "Prefix length of that address"),
        .text("ipv6_gateway", privacy: .connectionContext, about: "Next hop of the IPv6 path"),
        .integer("mtu", unit: .octets, privacy: .connectionContext, about: "Largest packet of the active interface"),
        .text("underlay_interface", privacy: .connectionContext, about: "Physical device below a tunnel, VLAN, bridge or bond"),
        .text("underlay_type", privacy: .connectionContext, about: "Type of that device"),
    ]

    private static let wireless: [FieldDeclaration] = [
        .text("ssid", privacy: .connectionContext, permission: .wifiIdentity, about: "Name of the Wi-Fi network, where it is UTF-8"),
        .text("ssid_hex", privacy: .connectionContext, permission: .wifiIdentity, about: "Octets of the name"),
        .text("bssid", privacy: .connectionContext, permission: .wifiIdentity, about: "Address of the access point"),
        .integer("rssi", unit: .dBm, privacy: .connectionContext, changes: .by(5), about: "Signal of the last frame received"),
        .integer(
            "signal_strength", unit: .percent, privacy: .connectionContext, changes: .never,
            about: "The same from 0 (-100 dBm or less) to 100 (-50 dBm or more)"),
        .integer("frequency", unit: .megahertz, privacy: .connectionContext, about: "Frequency of the primary channel"),
        .integer("channel", privacy: .connectionContext, about: "Number of the primary channel"),
        .integer("channel_width", unit: .megahertz, privacy: .connectionContext, about: "Width of the channel"),
        // Rates change with every frame: they are shown and are no reason for a snapshot.
        .number("link_speed", unit: .megabitsPerSecond, privacy: .connectionContext, changes: .never, about: "Transmit rate"),
        .number("rx_link_speed", unit: .megabitsPerSecond, privacy: .connectionContext, changes: .never, about: "Receive rate"),
        .text("wifi_standard", privacy: .connectionContext, about: "Standard of the modulation in use, such as 802.11ax"),
        FieldDeclaration(
            "mlo_links", .records, privacy: .connectionContext, about: "All links of a multi-link association",
            members: [
                .integer("link_id", privacy: .connectionContext, about: "Number of the link"),
                .text("bssid", privacy: .connectionContext, permission: .wifiIdentity, about: "Address of the access point's link"),
                .integer("frequency", unit: .megahertz, privacy: .connectionContext, about: "Frequency of the link"),
                .integer("rssi", unit: .dBm, privacy: .connectionContext, changes: .by(5), about: "Signal of the link's beacon"),
            ]),
        .text("mld_address", privacy: .connectionContext, permission: .wifiIdentity, about: "Address of the access point over all links"),
    ]

    private static let cellular: [FieldDeclaration] = [
        .text("radio_technology", privacy: .connectionContext, about: "gsm, umts, lte, nr5g ...; several joined with +"),
        .number("rsrp", unit: .dBm, privacy: .connectionContext, changes: .by(5), about: "Power of the cell's reference signal"),
        .number("rsrq", unit: .dB, privacy: .connectionContext, changes: .by(3), about: "Quality of the reference signal"),
        .number("rssnr", unit: .dB, privacy: .connectionContext, changes: .by(5), about: "Signal to noise of the reference signal"),
        .number("cellular_rssi", unit: .dBm, privacy: .connectionContext, changes: .by(5), about: "Received power"),
        .integer("signal_quality", unit: .percent, privacy: .connectionContext, changes: .by(10), about: "The modem's own summary"),
        // A cell's identity locates: public lists know where each one stands.
        .integer("cell_id", privacy: .preciseLocation, permission: .preciseLocation, about: "Identity of the serving cell"),
        .integer("tac", privacy: .preciseLocation, permission: .preciseLocation, about: "Tracking area"),
        .integer("lac", privacy: .preciseLocation, permission: .preciseLocation, about: "Location area"),
        .integer("pci", privacy: .preciseLocation, permission: .preciseLocation, about: "Physical identity of the cell"),
        .integer("earfcn", privacy: .connectionContext, about: "Number of the radio channel"),
        .text("band", privacy: .connectionContext, about: "Radio band"),
        .text("mcc", privacy: .connectionContext, about: "Country of the network"),
        .text("mnc", privacy: .connectionContext, about: "Network in that country, with its leading zeros"),
        .text("operator", privacy: .connectionContext, about: "Name of the network's operator"),
        .bool("is_roaming", privacy: .connectionContext, about: "Registered away from home"),
    ]
}
