#!/usr/bin/python3
"""ModemManager's published D-Bus interface with values that a simulated AT modem cannot give: LTE and 5G levels, cells, network ports,
a PPP bearer. Needs python3-dbus and python3-gi.

service.py BUS-ADDRESS    says "ready"; then for each line of JSON on standard input sets what it names and says "done":
    {"Modem": {...}, "Modem3gpp": {...}, "Signal": {...}, "Cells": [...], "Location": "..."} changes properties, null removes the modem
"""
import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MM = "org.freedesktop.ModemManager1"
PATH, BEARER = "/org/freedesktop/ModemManager1/Modem/0", "/org/freedesktop/ModemManager1/Bearer/0"
PROPERTIES = "org.freedesktop.DBus.Properties"


class Manager(dbus.service.Object):
    @dbus.service.method("org.freedesktop.DBus.ObjectManager", out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return {PATH: modem.interfaces()} if modem.present else dbus.Dictionary({}, signature="oa{sa{sv}}")

    @dbus.service.signal("org.freedesktop.DBus.ObjectManager", signature="oas")
    def InterfacesRemoved(self, path, interfaces):
        pass


class Modem(dbus.service.Object):
    present = True
    state = {"Modem": {}, "Modem3gpp": {}, "Signal": {}, "Location": "", "Cells": []}

    def interfaces(self):
        values, network, signal = self.state["Modem"], self.state["Modem3gpp"], self.state["Signal"]
        main = {
            "AccessTechnologies": dbus.UInt32(values.get("technologies", 0)),
            "SignalQuality": dbus.Struct((dbus.UInt32(values.get("quality", 0)), True), signature="ub"),
            "CurrentBands": dbus.Array([dbus.UInt32(band) for band in values.get("bands", [])], signature="u"),
            "Ports": dbus.Array([(name, dbus.UInt32(kind)) for name, kind in values.get("ports", [])], signature="(su)"),
            "Bearers": dbus.Array([dbus.ObjectPath(BEARER)] if values.get("bearer") else [], signature="o"),
            "EquipmentIdentifier": "490154203237518",
        }
        registration = {
            "RegistrationState": dbus.UInt32(network.get("registration", 1)), "OperatorCode": network.get("code", ""),
            "OperatorName": network.get("name", ""), "Imei": "490154203237518",
        }
        levels = {
            technology: dbus.Dictionary({name: dbus.Double(value) for name, value in entries.items()}, signature="sv")
            for technology, entries in signal.items()
        }
        location = dbus.Dictionary({dbus.UInt32(1): self.state["Location"]} if self.state["Location"] else {}, signature="uv")
        return {
            f"{MM}.Modem": dbus.Dictionary(main, signature="sv"), f"{MM}.Modem.Modem3gpp": dbus.Dictionary(registration, signature="sv"),
            f"{MM}.Modem.Signal": dbus.Dictionary(levels, signature="sv"),
            f"{MM}.Modem.Location": dbus.Dictionary({"Location": location}, signature="sv"),
        }

    @dbus.service.method(f"{MM}.Modem", out_signature="aa{sv}")
    def GetCellInfo(self):
        return dbus.Array([dbus.Dictionary(cell, signature="sv") for cell in self.state["Cells"]], signature="a{sv}")

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class Bearer(dbus.service.Object):
    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return {"Connected": True, "Interface": modem.state["Modem"]["bearer"]}


def line(channel, condition):
    text = sys.stdin.readline()
    if not text:
        loop.quit()
        return False
    values = json.loads(text)
    if values is None:
        modem.present = False
        manager.InterfacesRemoved(PATH, [f"{MM}.Modem"])
    else:
        modem.present = True
        modem.state.update(values)
        modem.PropertiesChanged(f"{MM}.Modem", dbus.Dictionary({}, signature="sv"), dbus.Array([], signature="s"))
    print("done", flush=True)
    return True


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
manager, modem, bearer = Manager(bus, "/org/freedesktop/ModemManager1"), Modem(bus, PATH), Bearer(bus, BEARER)
name = dbus.service.BusName(MM, bus)
loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, line)
print("ready", sys.argv[1], flush=True)
loop.run()
