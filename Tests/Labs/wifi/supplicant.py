#!/usr/bin/python3
"""What most machines do: wpa_supplicant joins, roams and loses networks with WPA2. The kernel then tells no name with the interface.

supplicant.py FIELDPROBE    in the guest of `lab run --radios 3`
"""
import subprocess
import sys
import time

from labkit import WORK, AccessPoint, Probe, association, sh, wait_for

PROGRAM = sys.argv[1]
STATION = "wlan2"
WPA2 = ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP", "wpa_passphrase=labpassphrase"]
SHOWN = ("link_speed", "rx_link_speed", "signal_strength", "wifi_standard", "rssi")
faults = []


def cli(words):
    return sh(f"wpa_cli -p {WORK}/wpa -i {STATION} {words}", check=False)


def check(title, bssid):
    """The probe's association has to become that of `iw`, which has to be with this access point."""
    def fits():
        expected = association(STATION)
        for name in SHOWN:
            expected.pop(name, None)
        got = probe.fields(*SHOWN)
        return expected.get("bssid") == bssid and all(got.get(name) == expected.get(name) for name in NAMES)

    try:
        wait_for(fits, 25)
        print(f"ok    {title}", flush=True)
    except RuntimeError:
        faults.append(title)
        print(f"FAULT {title}: recorded {probe.fields()}, iw says {association(STATION)}", flush=True)


NAMES = ("ssid", "ssid_hex", "bssid", "frequency", "channel", "channel_width")
WORK.mkdir(exist_ok=True)
sh("iw reg set US")
first = AccessPoint("ap1", 0, "02:aa:00:00:00:01")
second = AccessPoint("ap2", 1, "02:aa:00:00:00:02")
first.start(b"lab", 1, lines=WPA2)
second.start(b"lab", 6, lines=WPA2)
config = WORK / "station.conf"
config.write_text(
    f"ctrl_interface={WORK}/wpa\nfreq_list=2412 2437 2462\np2p_disabled=1\n"
    'network={\n  ssid="lab"\n  psk="labpassphrase"\n  scan_freq=2412 2437 2462\n}\n')
sh(f"ip link set {STATION} up")
sh(f"ip addr add 10.9.0.9/24 dev {STATION}")
sh(f"ip route add default via 10.9.0.1 dev {STATION}")
probe = Probe(PROGRAM)
with subprocess.Popen(["wpa_supplicant", "-D", "nl80211", "-i", STATION, "-c", str(config)], stdout=subprocess.DEVNULL) as supplicant:
    wait_for(lambda: "wpa_state=COMPLETED" in cli("status"), 40, "the association")
    here = association(STATION)["bssid"]
    check("joined with WPA2, and the name is known although the interface does not tell it", here)
    for _ in range(4):
        there = second.bssid if here == first.bssid else first.bssid
        cli(f"roam {there}")
        check(f"roamed to {there[-2:]}", there)
        here = there
    lost = first if here == first.bssid else second
    left = second if lost is first else first
    lost.stop()
    check("the access point went away, the other one took over", left.bssid)
    left.stop()
    check("all access points are gone", None)
    hidden = b"\xff\xfe\x00\xc3\x28"
    first.start(hidden, 1, hidden=True, lines=WPA2)
    number = cli("add_network").strip().splitlines()[-1]
    for key, value in (("ssid", hidden.hex()), ("psk", '"labpassphrase"'), ("scan_ssid", "1"), ("scan_freq", '2412')):
        subprocess.run(["wpa_cli", "-p", f"{WORK}/wpa", "-i", STATION, "set_network", number, key, value], stdout=subprocess.DEVNULL)
    cli(f"select_network {number}")
    check("a hidden network whose name is not UTF-8 and has a NUL", first.bssid)
    if probe.fields().get("ssid_hex") != hidden.hex() or "ssid" in probe.fields():
        faults.append("octets of the hidden name")
        print(f"FAULT octets of the hidden name: {probe.fields()}", flush=True)
    supplicant.terminate()
first.stop()
probe.end()
sequence = [snapshot.get("bssid", "-")[-2:] for _, snapshot in probe.snapshots]
print(f"supplicant: {len(probe.snapshots)} snapshots, associations {' '.join(sequence)}, {len(faults)} faults", flush=True)
sys.exit(1 if faults else 0)
