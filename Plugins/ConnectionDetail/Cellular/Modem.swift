internal import MeasurementModel

/// A modem as ModemManager describes it (org.freedesktop.ModemManager1.Modem and its relatives). Identities of the modem, the card and
/// the subscriber are never read.
struct Modem: Sendable, Hashable {
    /// Names of the network interfaces that the modem has, or that a bearer of it has made (PPP).
    var interfaces: Set<String> = []
    /// ModemManager's names, joined with `+`.
    var technology: String?
    /// 0 to 100; nil when it is no longer true.
    var signalQuality: Int?
    var registration: Registration = .none
    var operatorCode: String?
    var operatorName: String?
    /// dBm
    var rsrp: Double?
    /// dB
    var rsrq: Double?
    /// dB, signal to noise
    var rssnr: Double?
    /// dBm
    var rssi: Double?
    var cell = Cell()

    /// What the serving cell is called.
    struct Cell: Sendable, Hashable {
        var id: Int64?
        var tac: Int64?
        var lac: Int64?
        var pci: Int64?
        var earfcn: Int64?
        var band: String?
    }

    /// `MMModem3gppRegistrationState`.
    enum Registration: Sendable, Hashable {
        case none, home, roaming

        init(_ state: Int64?) {
            switch state {
            // home, home for SMS only, emergency only is none, home without CSFB
            case 1, 6, 9: self = .home
            case 5, 7, 10: self = .roaming
            default: self = .none
            }
        }
    }

    var isRegistered: Bool { registration != .none }
}

/// From D-Bus values to a modem: pure.
extension Modem {
    private static let prefix = "org.freedesktop.ModemManager1.Modem"

    /// - Parameter object: interfaces and their properties, as GetManagedObjects gives them.
    init?(_ object: BusValue) {
        guard let modem = object[Self.prefix] else { return nil }
        for port in modem["Ports"]?.list ?? [] {
            // MM_MODEM_PORT_TYPE_NET
            if let pair = port.list, pair.count == 2, pair[1].integer == 2, let name = pair[0].text { interfaces.insert(name) }
        }
        technology = Self.technologies(modem["AccessTechnologies"]?.integer ?? 0)
        if let quality = modem["SignalQuality"]?.list, quality.count == 2, quality[1].bool == true {
            signalQuality = quality[0].integer.map(Int.init)
        }
        cell.band = Self.band(modem["CurrentBands"]?.list)
        if let network = object["\(Self.prefix).Modem3gpp"] {
            registration = Registration(network["RegistrationState"]?.integer)
            operatorCode = network["OperatorCode"]?.text
            operatorName = network["OperatorName"]?.text
        }
        if let signal = object["\(Self.prefix).Signal"] { takeSignal(signal) }
        if let location = object["\(Self.prefix).Location"]?["Location"] { takeLocation(location) }
        if !isRegistered { forgetNetwork() }
    }

    /// Bearers' interfaces, which are not among the modem's ports where PPP makes them.
    static func bearerPaths(_ object: BusValue) -> [String] { object[prefix]?["Bearers"]?.list?.compactMap(\.text) ?? [] }

    /// Without a network what is left of the last one would be wrong.
    private mutating func forgetNetwork() {
        (technology, signalQuality, operatorCode, operatorName) = (nil, nil, nil, nil)
        (rsrp, rsrq, rssnr, rssi) = (nil, nil, nil, nil)
        cell = Cell()
    }

    /// `MMModemAccessTechnology`: one bit each.
    static func technologies(_ bits: Int64) -> String? {
        let names = [
            "pots", "gsm", "gsm-compact", "gprs", "edge", "umts", "hsdpa", "hsupa", "hspa", "hspa+", "1xrtt", "evdo0", "evdoa", "evdob",
            "lte",
            "nr5g", "lte-cat-m", "lte-nb-iot",
        ]
        let present = names.enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
        return present.isEmpty ? nil : present.joined(separator: "+")
    }

    /// The band in use, where exactly one is told: most modems list all that they may use. `MMModemBand`: E-UTRAN 1 is 31, NR 1 is 301.
    static func band(_ bands: [BusValue]?) -> String? {
        guard let bands, bands.count == 1, let number = bands[0].integer else { return nil }
        switch number {
        case 31...115: return "eutran-\(number - 30)"
        case 301...561: return "ngran-\(number - 300)"
        default: return nil
        }
    }

    /// The levels of the technology in use; 5G first where both are there. ModemManager says "unknown" with a number below any level.
    private mutating func takeSignal(_ signal: BusValue) {
        func level(_ technology: String, _ name: String) -> Double? {
            signal[technology]?[name]?.real.flatMap { $0 > -1000 && $0 < 1000 ? $0 : nil }
        }
        for technology in ["Nr5g", "Lte"] where rsrp == nil {
            rsrp = level(technology, "rsrp")
            rsrq = level(technology, "rsrq")
            rssnr = level(technology, "snr")
        }
        for technology in ["Lte", "Umts", "Gsm"] where rssi == nil { rssi = level(technology, "rssi") }
    }

    /// `MM_MODEM_LOCATION_SOURCE_3GPP_LAC_CI`: "MCC,MNC,LAC,CI,TAC", the last three in hexadecimal; 0 is not known.
    mutating func takeLocation(_ location: BusValue) {
        guard let parts = location[1]?.text?.split(separator: ",", omittingEmptySubsequences: false), parts.count >= 4 else { return }
        func number(_ index: Int) -> Int64? {
            guard index < parts.count, let value = Int64(parts[index], radix: 16), value > 0, value < 1 << 36 else { return nil }
            return value
        }
        cell.lac = number(2).flatMap { $0 < 0xFFFE ? $0 : nil }
        cell.id = number(3)
        cell.tac = number(4).flatMap { $0 < 0xFFFFFE ? $0 : nil }
    }

    /// The serving cells of GetCellInfo. `cell-type` of ModemManager: 4 is LTE, 5 is 5G.
    mutating func takeCells(_ cells: BusValue) {
        func number(_ value: BusValue?) -> Int64? { value?.integer ?? value?.text.flatMap { Int64($0, radix: 16) } }
        for entry in cells.list ?? [] where entry["serving"]?.bool == true && isRegistered {
            cell.id = number(entry["ci"]) ?? cell.id
            cell.tac = number(entry["tac"]) ?? cell.tac
            cell.lac = number(entry["lac"]) ?? cell.lac
            cell.pci = number(entry["physical-ci"])
            cell.earfcn = entry["earfcn"]?.integer ?? entry["nrarfcn"]?.integer
            rsrp = rsrp ?? entry["rsrp"]?.real
            rsrq = rsrq ?? entry["rsrq"]?.real
            rssnr = rssnr ?? entry["sinr"]?.real
        }
    }

    /// The fields of a snapshot.
    func add(to values: inout [String: FieldValue]) {
        guard isRegistered else { return }
        values["radio_technology"] = technology.map(FieldValue.text)
        values["rsrp"] = rsrp.map(FieldValue.number)
        values["rsrq"] = rsrq.map(FieldValue.number)
        values["rssnr"] = rssnr.map(FieldValue.number)
        values["cellular_rssi"] = rssi.map(FieldValue.number)
        values["signal_quality"] = signalQuality.map { .integer($0) }
        values["cell_id"] = cell.id.map(FieldValue.integer)
        values["tac"] = cell.tac.map(FieldValue.integer)
        values["lac"] = cell.lac.map(FieldValue.integer)
        values["pci"] = cell.pci.map(FieldValue.integer)
        values["earfcn"] = cell.earfcn.map(FieldValue.integer)
        values["band"] = cell.band.map(FieldValue.text)
        // Three digits of country, two or three of network, whose leading zeros count (ITU-T E.212).
        if let code = operatorCode, (5...6).contains(code.count), code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            values["mcc"] = .text(String(code.prefix(3)))
            values["mnc"] = .text(String(code.dropFirst(3)))
        }
        values["operator"] = operatorName.map(FieldValue.text)
        values["is_roaming"] = .bool(registration == .roaming)
    }
}
