import CollectorCore
import LabSupport
import MeasurementModel
import Testing

@testable import ConnectionDetail

/// The cellular side, by a real ModemManager with a simulated modem, and by its published interface for what that modem cannot say.
@Suite(.serialized) struct CellularTests {
    private static let names = ["radio_technology", "signal_quality", "mcc", "mnc", "operator", "is_roaming", "cell_id", "lac", "tac"]

    private static func cellular(_ probe: TraceProbe) -> [String: String] { probe.fields.filter { names.contains($0.key) } }

    private static func settings(_ lab: ScriptedLab) -> ConnectionDetailSettings {
        var settings = ConnectionDetailSettings()
        settings.busAddress = lab.words[1]
        return settings
    }

    @Test("R-12 R-17 A real ModemManager: technology, operator, roaming; changes at once; the daemon and the modem come and go")
    func realDaemon() async throws {
        try await NetworkNamespace.run { namespace in
            let lab = try ScriptedLab("modemmanager/lab", Lab.cache("modemmanager"))
            defer { lab.end() }
            let probe = TraceProbe(settings: Self.settings(lab))
            #expect(probe.wait { $0.fields["radio_technology"] == "\"lte\"" && $0.fields["operator"] != nil })
            #expect(
                Self.cellular(probe) == [
                    "radio_technology": "\"lte\"", "signal_quality": "64", "mcc": "\"262\"", "mnc": "\"01\"", "operator": "\"Simulated\"",
                    "is_roaming": "false",
                ])
            // Long before the poll of ten seconds: by the daemon's signals.
            let begin = MonotonicInstant.now()
            try lab.say("act=2")
            #expect(probe.wait { $0.fields["radio_technology"] == "\"umts\"" })
            try lab.say("reg=5 act=7 op=00101 opname=Elsewhere")
            #expect(probe.wait { $0.fields["is_roaming"] == "true" && $0.fields["mcc"] == "\"001\"" })
            #expect(probe.fields["mnc"] == "\"01\"")
            try lab.say("reg=2")
            #expect(probe.wait { Self.cellular($0).isEmpty })
            #expect(MonotonicInstant.now() - begin < .seconds(30))
            try lab.say("reg=1")
            #expect(probe.wait { $0.fields["radio_technology"] == "\"lte\"" })
            try lab.say("stop")
            #expect(probe.wait { Self.cellular($0).isEmpty })
            try lab.say("start")
            #expect(probe.wait { $0.fields["radio_technology"] == "\"lte\"" })
            let (record, snapshots) = probe.finish(in: namespace)
            #expect(record.state == .ok && record.provenance["cellular"] == "ModemManager")
            #expect(!snapshots.contains { $0["cell_id"] != nil || $0["lac"] != nil || $0["tac"] != nil })
        }
    }

    @Test("R-17 R-25 The cell locates: it is shown with the permission for precise location only")
    func cell() async throws {
        try await NetworkNamespace.run { namespace in
            let lab = try ScriptedLab("modemmanager/lab", Lab.cache("modemmanager"))
            defer { lab.end() }
            let probe = TraceProbe(settings: Self.settings(lab), permissions: Permissions(granted: [.preciseLocation]))
            #expect(probe.wait { $0.fields["cell_id"] != nil })
            #expect(probe.fields["cell_id"] == "\(0x01B2_C3D4)")
            #expect(probe.fields["tac"] ?? probe.fields["lac"] == "\(0xA1)")
            _ = probe.finish(in: namespace)
        }
    }

    private static let lte = """
        {"Modem": {"technologies": 16384, "quality": 71, "bands": [33], "ports": [["ttyUSB2", 3], ["d0", 2]]}, "Modem3gpp": {"code": "310260", "name": "One"},
         "Signal": {"Lte": {"rsrp": -101.0, "rsrq": -11.0, "snr": 9.5, "rssi": -71.0}},
         "Cells": [{"cell-type": 4, "serving": true, "ci": "01B2C3D4", "tac": "00A1", "physical-ci": "1F", "earfcn": 1300},
                   {"cell-type": 4, "serving": false, "ci": "FF", "tac": "FF"}]}
        """

    @Test("R-15 R-17 The modem that carries the path: its interface is cellular and metered, whatever kind of device it shows")
    func carrier() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 192.0.2.2/24 dev d0")
            try namespace.ip("route add default via 192.0.2.1")
            let lab = try ScriptedLab("modemmanager/published")
            defer { lab.end() }
            try lab.say(Self.lte.split(separator: "\n").joined())
            let probe = TraceProbe(settings: Self.settings(lab), permissions: Permissions(granted: [.preciseLocation]))
            #expect(probe.wait { $0.fields["rsrp"] != nil })
            let expected = [
                "type": "\"cellular\"", "interface": "\"d0\"", "is_connection_expensive": "true", "radio_technology": "\"lte\"",
                "rsrp": "-101",
                "rsrq": "-11", "rssnr": "9.5", "cellular_rssi": "-71", "signal_quality": "71", "cell_id": "\(0x01B2_C3D4)", "tac": "161",
                "pci": "31", "earfcn": "1300", "band": "\"eutran-3\"", "mcc": "\"310\"", "mnc": "\"260\"", "operator": "\"One\"",
                "is_roaming": "false",
            ]
            for (name, value) in expected { #expect(probe.fields[name] == value, "\(name)") }
            // Less than the declared amounts is no snapshot; more is one at once.
            let before = probe.snapshots.count
            try lab.say(#"{"Signal": {"Lte": {"rsrp": -103.0, "rsrq": -12.0, "snr": 7.0, "rssi": -73.0}}}"#)
            probe.settle()
            #expect(probe.snapshots.count == before)
            try lab.say(#"{"Signal": {"Lte": {"rsrp": -110.0, "rsrq": -12.0, "snr": 7.0, "rssi": -73.0}}}"#)
            #expect(probe.wait { $0.fields["rsrp"] == "-110" })
            try lab.say(#"{"Modem": {"technologies": 49152, "quality": 71, "ports": [["d0", 2]]}}"#)
            #expect(probe.wait { $0.fields["radio_technology"] == "\"lte+nr5g\"" })
            // The modem goes: what it was is forgotten.
            try lab.say("null")
            #expect(probe.wait { $0.fields["type"] == "\"ethernet\"" && $0.fields["rsrp"] == nil })
            #expect(probe.fields["is_connection_expensive"] == "false")
            _ = probe.finish(in: namespace)
        }
    }

    @Test("P36 A bearer's interface is the modem's too, which makes PPP cellular; the identity of modem and card is nowhere")
    func bearer() async throws {
        try await NetworkNamespace.run { namespace in
            let holder = try namespace.tap("ppp7")
            defer {
                holder.signal(9)
                holder.wait()
            }
            try namespace.ip("addr add 10.64.0.2/24 dev ppp7")
            try namespace.ip("route add default dev ppp7")
            let lab = try ScriptedLab("modemmanager/published")
            defer { lab.end() }
            try lab.say(#"{"Modem": {"technologies": 8, "quality": 30, "bearer": "ppp7"}, "Modem3gpp": {"code": "26201", "name": "One"}}"#)
            let probe = TraceProbe(settings: Self.settings(lab), permissions: Permissions(granted: [.preciseLocation, .wifiIdentity]))
            #expect(probe.wait { $0.fields["type"] == "\"cellular\"" })
            #expect(probe.fields["radio_technology"] == "\"gprs\"")
            let everything = probe.snapshots.map { $0.json.text() }.joined()
            #expect(!everything.contains("490154203237518"))
            _ = probe.finish(in: namespace)
        }
    }

    @Test(
        "Technologies by ModemManager's bits and names",
        arguments: [
            (0, nil), (1 << 1, "gsm"), (1 << 9, "hspa+"), (1 << 14, "lte"), (1 << 15, "nr5g"), (1 << 14 | 1 << 15, "lte+nr5g"),
            (1 << 6 | 1 << 7, "hsdpa+hsupa"), (1 << 30, nil),
        ] as [(Int64, String?)])
    func technologies(bits: Int64, name: String?) { #expect(Modem.technologies(bits) == name) }

    @Test("Levels that are not known, cells that are zero and operators that are no numbers are left out")
    func unknowns() {
        func text(_ values: [String: BusValue]) -> BusValue {
            .dictionary(Dictionary(uniqueKeysWithValues: values.map { (.text($0), $1) }))
        }
        let prefix = "org.freedesktop.ModemManager1.Modem"
        let object = text([
            prefix: text(["AccessTechnologies": .unsigned(1 << 14), "SignalQuality": .list([.unsigned(50), .bool(false)])]),
            "\(prefix).Modem3gpp": text(["RegistrationState": .unsigned(1), "OperatorCode": .text("26x01"), "OperatorName": .text("")]),
            "\(prefix).Signal": text(["Lte": text(["rsrp": .real(-32768), "rsrq": .real(.nan), "snr": .real(3)])]),
            "\(prefix).Location": text(["Location": .dictionary([.unsigned(1): .text("262,01,FFFE,0,FFFFFE")])]),
        ])
        var values: [String: FieldValue] = [:]
        Modem(object)?.add(to: &values)
        #expect(values == ["radio_technology": .text("lte"), "rssnr": .number(3), "is_roaming": .bool(false)])
    }
}
