"""What the scenarios in the guest share: the probe at work, and the tools that are its oracle. Standard library only."""
import json
import pathlib
import re
import subprocess
import threading
import time

import nl80211

WORK = pathlib.Path("/run/lab")
TARGET = "203.0.113.9"


def sh(words, check=True):
    """Runs a command and gives what it printed."""
    done = subprocess.run(words.split() if isinstance(words, str) else words, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{words}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def wait_for(condition, seconds=20, what="a condition"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.03)
    raise RuntimeError(f"waited {seconds} s for {what}")


class Probe:
    """`fieldprobe watch --json` at work. Its snapshots, each with the time of its arrival."""

    def __init__(self, program, *words, wifi=True, prefix=()):
        command = [
            *prefix, program, "watch", "--json", "--collector", "connection-detail", "--target", TARGET,
            *(["--set", "permissions.wifi-identity=yes"] if wifi else []), *words,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.snapshots, self.gaps, self.states = [], [], []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        wait_for(lambda: self.snapshots, 60, "the first snapshot")

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if "snapshot" in event:
                self.snapshots.append((time.monotonic(), event["snapshot"]))
            elif "gap" in event:
                self.gaps.append(event["gap"])
            else:
                self.states.append(event)

    def fields(self, *ignored):
        """The last snapshot without its time stamps."""
        dropped = {"client_time", "client_time_skewed", "offset_ms", *ignored}
        return {name: value for name, value in self.snapshots[-1][1].items() if name not in dropped}

    def end(self):
        self.process.terminate()
        if self.process.wait(10) != 0:
            raise RuntimeError(f"the probe ended with {self.process.returncode}")
        self.thread.join()


# -- access points and the station


def phy(interface):
    return pathlib.Path(f"/sys/class/net/{interface}/phy80211/name").read_text().strip()


class AccessPoint:
    """hostapd on a radio in a namespace of its own, so that frames really have to pass."""

    def __init__(self, name, radio, bssid):
        self.name, self.interface, self.bssid = name, f"wlan{radio}", bssid
        self.daemon = None
        self.power = -50
        self.phy = phy(self.interface)
        sh(f"ip netns add {name}")
        sh(f"iw phy {self.phy} set netns name {name}")
        sh(f"ip -n {name} link set lo up")
        sh(f"ip -n {name} link set {self.interface} address {bssid}")

    def start(self, ssid, channel, hidden=False, lines=()):
        """`ssid` is octets. Open, because the handshake of WPA takes most of the time and changes nothing here."""
        band = ["hw_mode=a", "ieee80211n=1", "ieee80211ac=1"] if channel > 14 else ["hw_mode=g", "ieee80211n=1"]
        text = [
            f"interface={self.interface}", "driver=nl80211", f"ctrl_interface={WORK}/{self.name}", f"channel={channel}", *band,
            "wmm_enabled=1", f"ssid2={ssid.hex()}", f"ignore_broadcast_ssid={1 if hidden else 0}", *lines,
        ]
        config = WORK / f"{self.name}.conf"
        config.write_text("\n".join(text) + "\n")
        self.log = open(WORK / f"{self.name}.log", "w")
        self.daemon = subprocess.Popen(
            ["ip", "netns", "exec", self.name, "hostapd", str(config)], stdout=self.log, stderr=self.log)
        log = WORK / f"{self.name}.log"
        wait_for(lambda: "AP-ENABLED" in log.read_text(), 20, f"{self.name} to be up: {log.read_text()[-500:]}")
        sh(f"ip netns exec {self.name} iw dev {self.interface} set txpower fixed 0")
        self.ssid, self.channel = ssid, channel

    def cli(self, words):
        return sh(f"ip netns exec {self.name} hostapd_cli -p {WORK}/{self.name} -i {self.interface} {words}", check=False)

    def stop(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(10)
            self.daemon = None

    def signal(self, dbm):
        """How strong its frames arrive. The debugfs file wants an unsigned number."""
        pathlib.Path(f"/sys/kernel/debug/ieee80211/{self.phy}/hwsim/rx_rssi").write_text(str((1 << 64) + dbm))


FREQUENCY = {1: 2412, 6: 2437, 11: 2462, 36: 5180, 40: 5200}


def join(interface, access_point):
    """Joins an open network, and waits a little for it. Whether it has worked, the oracle tells."""
    sh(f"iw dev {interface} disconnect", check=False)
    nl80211.connect(interface, access_point.ssid, FREQUENCY[access_point.channel], access_point.bssid)
    for _ in range(60):
        if access_point.bssid in sh(f"iw dev {interface} link", check=False):
            return
        time.sleep(0.03)


# -- the oracle


def unescaped(text):
    """Octets of a name as `iw` prints it: what is not printable, and backslashes, as \\xNN."""
    octets, rest = b"", text.encode("utf-8", "surrogateescape")
    while rest:
        if rest[:2] == b"\\x":
            octets, rest = octets + bytes([int(rest[2:4], 16)]), rest[4:]
        else:
            octets, rest = octets + rest[:1], rest[1:]
    return octets


def association(interface):
    """What `iw` says of an association, in the product's names; empty when there is none."""
    link = sh(f"iw dev {interface} link", check=False)
    match = re.match(r"Connected to ([0-9a-f:]+)", link)
    if not match:
        return {}
    fields = {"bssid": match[1]}
    name = re.search(r"^\tSSID: (.*)$", link, re.M)
    if name and (octets := unescaped(name[1])) and octets.strip(b"\0"):
        fields["ssid_hex"] = octets.hex()
        try:
            fields["ssid"] = octets.decode()
        except UnicodeDecodeError:
            pass
    station = sh(f"iw dev {interface} station dump", check=False)
    if signal_line := re.search(r"^\tsignal:\s+(-\d+)", station, re.M):
        fields["rssi"] = int(signal_line[1])
    for key, label in (("link_speed", "tx bitrate"), ("rx_link_speed", "rx bitrate")):
        if rate := re.search(rf"^\t{label}:\s+([0-9.]+) MBit/s", station, re.M):
            fields[key] = float(rate[1])
    info = sh(f"iw dev {interface} info", check=False)
    if channel := re.search(r"channel (\d+) \((\d+) MHz\), width: (\d+) MHz", info):
        fields["channel"], fields["frequency"], fields["channel_width"] = int(channel[1]), int(channel[2]), int(channel[3])
    return fields
