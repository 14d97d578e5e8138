#!/usr/bin/python3
"""A drive through a small Wi-Fi world, at random: after every settled step the probe's last snapshot has to equal what `iw` says.

roam.py FIELDPROBE [STEPS [SEED]]    in the guest of `lab run --radios 4`
"""
import pathlib
import random
import signal
import subprocess
import sys
import time

from labkit import TARGET, WORK, AccessPoint, Probe, association, join, phy, sh, wait_for

PROGRAM = sys.argv[1]
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)

# Names that break others: not UTF-8, with a NUL, of the full length, of spaces, with an escape sequence.
NAMES = [
    b"lab", b"caf\xc3\xa9", b"\xb2\xe2\xca\xd4", b"\xff" * 32, b"A" * 32, b" ", b"\x1b[31mred", b"a\\x41b", b"\"quoted\"", b"\xff\xfe\xc3\x28",
    b"nul\x00inside", b"\x00\x01",
]


class Drive:
    def __init__(self):
        self.random = random.Random(SEED)
        sh("iw reg set US")
        self.aps = [
            AccessPoint("ap1", 0, "02:aa:00:00:00:01"), AccessPoint("ap2", 1, "02:aa:00:00:00:02"),
        ]
        self.station = "wlan2"
        self.phy = phy(self.station)
        self.renames = 0
        self.stalls = 0
        self.aps[0].start(b"lab", 1)
        self.aps[1].start(b"lab", 6)
        self.prepare()

    def prepare(self):
        """Address and default route of the station, which go with the link."""
        sh(f"ip link set {self.station} up")
        sh(f"ip addr replace 10.9.0.9/24 dev {self.station}")
        sh("ip route replace default via 10.9.0.1 dev " + self.station, check=False)

    def run(self):
        print(f"drive: seed {SEED}, {STEPS} steps", flush=True)
        self.probe = Probe(PROGRAM)
        with open(WORK / "events.txt", "w") as events:
            listener = subprocess.Popen(["iw", "event", "-t"], stdout=events)
            time.sleep(1)
            faults = []
            for step in range(STEPS):
                # Once for certain, and then as chance will have it.
                action = f"stall {self.stall() or ''}" if step == STEPS // 2 else self.act()
                if fault := self.compare():
                    faults.append(f"step {step}, {action}: {fault}")
                    print("FAULT", faults[-1], flush=True)
                    if len(faults) > 5:
                        break
            listener.terminate()
            listener.wait()
        self.probe.end()
        faults += self.compare_events()
        losses = sum(gap["reason"] == "event_loss" for gap in self.probe.gaps)
        print(f"drive: stalled {self.stalls} times, {losses} losses of events told", flush=True)
        if self.stalls and not losses:
            faults.append("events were lost, and no gap says so")
        states = {}
        for _, snapshot in self.probe.snapshots:
            key = "associated" if "bssid" in snapshot else snapshot["type"] + ", not associated"
            states[key] = states.get(key, 0) + 1
        print(f"drive: {len(self.probe.snapshots)} snapshots, {states}, {len(faults)} faults", flush=True)
        for access_point in self.aps:
            access_point.stop()
        return faults

    # -- what can happen

    def act(self):
        choice = self.random
        actions = [
            self.associate, self.associate, self.associate, self.disconnect, self.lose, self.rename_network, self.hide, self.switch_channel,
            self.change_signal, self.change_signal, self.kill_radio, self.rename_interface, self.down_up, self.move_away, self.make_again,
            self.other_band, self.stall,
        ]
        action = choice.choice(actions)
        return f"{action.__name__} {action() or ''}"

    def associate(self):
        access_point = self.random.choice(self.aps)
        join(self.station, access_point)
        return access_point.name

    def disconnect(self):
        sh(f"iw dev {self.station} disconnect", check=False)

    def lose(self):
        """The access point goes and comes back."""
        access_point = self.random.choice(self.aps)
        access_point.stop()
        access_point.start(access_point.ssid, access_point.channel)
        return access_point.name

    def rename_network(self):
        access_point, name = self.random.choice(self.aps), self.random.choice(NAMES)
        access_point.stop()
        access_point.start(name, access_point.channel)
        join(self.station, access_point)
        return name

    def hide(self):
        access_point = self.random.choice(self.aps)
        access_point.stop()
        access_point.start(b"secret", access_point.channel, hidden=True)
        join(self.station, access_point)
        return access_point.name

    def switch_channel(self):
        access_point = self.random.choice(self.aps)
        channel = self.random.choice([1, 6, 11])
        frequency = {1: 2412, 6: 2437, 11: 2462}[channel]
        if access_point.channel > 14 or access_point.channel == channel:
            return "not possible"
        if "OK" in access_point.cli(f"chan_switch 3 {frequency} ht"):
            access_point.channel = channel
            time.sleep(0.6)
        return f"{access_point.name} to {channel}"

    def other_band(self):
        access_point = self.random.choice(self.aps)
        access_point.stop()
        access_point.start(access_point.ssid, self.random.choice([36, 40, 1, 6]))
        join(self.station, access_point)
        return f"{access_point.name} to {access_point.channel}"

    def change_signal(self):
        access_point, level = self.random.choice(self.aps), self.random.randrange(-90, -30)
        access_point.signal(level)
        return f"{access_point.name} to {level}"

    def kill_radio(self):
        for switch in pathlib.Path("/sys/class/rfkill").iterdir():
            if (switch / "device").resolve().name == self.phy:
                (switch / "soft").write_text("1")
                time.sleep(0.3)
                (switch / "soft").write_text("0")
        self.prepare()

    def rename_interface(self):
        self.renames += 1
        name = f"sta{self.renames}"
        sh(f"ip link set {self.station} down")
        sh(f"ip link set {self.station} name {name}")
        self.station = name
        self.prepare()

    def down_up(self):
        sh(f"ip link set {self.station} down")
        time.sleep(self.random.choice([0, 0.3]))
        self.prepare()

    def move_away(self):
        """The radio goes to a namespace and comes back."""
        sh("ip netns add away", check=False)
        sh(f"iw phy {self.phy} set netns name away")
        time.sleep(self.random.choice([0, 0.3]))
        sh(f"ip netns exec away iw phy {self.phy} set netns 1")
        wait_for(lambda: pathlib.Path(f"/sys/class/net/{self.station}").exists(), 10, "the radio to come back")
        self.prepare()

    def make_again(self):
        sh(f"iw dev {self.station} del")
        self.renames += 1
        self.station = f"new{self.renames}"
        sh(f"iw phy {self.phy} interface add {self.station} type managed")
        self.prepare()

    def stall(self):
        """The probe stands still while the kernel has more to tell than its sockets hold, and an association among it."""
        self.stalls += 1
        self.probe.process.send_signal(signal.SIGSTOP)
        sh("ip link add flood type dummy", check=False)
        changes = "\n".join(f"link set flood mtu {1000 + number % 400}" for number in range(3000))
        subprocess.run(["ip", "-force", "-batch", "-"], input=changes, text=True, capture_output=True)
        join(self.station, self.random.choice(self.aps))
        self.probe.process.send_signal(signal.SIGCONT)

    # -- what has to be so

    def expected(self):
        link = sh(f"ip -o link show {self.station}")
        route = sh(f"ip route get {TARGET}", check=False)
        if self.station not in route:
            return {"type": "none", "is_internet_reachable": False}
        fields = {
            "type": "wifi", "interface": self.station, "is_connection_expensive": False, "mtu": 1500, "ip_address": "10.9.0.9",
            "prefix_length": 24, "subnet": "10.9.0.0/24", "gateway": "10.9.0.1", "is_internet_reachable": "LOWER_UP" in link,
        }
        fields.update(association(self.station))
        return fields

    def compare(self):
        """None when snapshot and oracle agree within the time of one poll and some more."""
        shown = ("link_speed", "rx_link_speed", "signal_strength", "wifi_standard")
        for _ in range(140):
            expected, got = self.expected(), self.probe.fields(*shown)
            for name in shown:
                expected.pop(name, None)
            # A signal is a new snapshot from 5 dB on.
            if "rssi" in got and "rssi" in expected and abs(got["rssi"] - expected["rssi"]) < 5:
                expected["rssi"] = got["rssi"]
            if got == expected:
                return None
            time.sleep(0.1)
        names = sorted(name for name in {*got, *expected} if got.get(name) != expected.get(name))
        return ", ".join(f"{name}: recorded {got.get(name)!r}, iw says {expected.get(name)!r}" for name in names)

    def compare_events(self):
        """The trace has every association that `iw event` saw for half a second or more, in order and once, and none that it did not see.

        A state that is over before it can be asked for cannot be in a trace of states.
        """
        told = [(0.0, None)]
        for line in (WORK / "events.txt").read_text(errors="replace").splitlines():
            stamp, _, text = line.partition(": ")
            if ": connected to " in text:
                told.append((float(stamp), text.split(": connected to ")[1].split()[0]))
            elif "disconnected" in text:
                told.append((float(stamp), None))
        ends = [*(moment for moment, _ in told[1:]), float("inf")]
        lasting = squeezed([bssid for (begin, bssid), end in zip(told, ends) if end - begin >= 0.5])
        told = squeezed([bssid for _, bssid in told])
        recorded = squeezed([None, *(snapshot.get("bssid") for _, snapshot in self.probe.snapshots)])
        print(f"drive: {len(told)} associations and losses by iw event, {len(lasting)} of half a second or more, "
              f"{len(recorded)} in the trace", flush=True)
        if in_order(lasting, recorded) and in_order(recorded, told):
            return []
        print("lasting ", *lasting, "\nrecorded", *recorded, "\ntold    ", *told, flush=True)
        return ["the associations of iw event are not those in the trace"]


def squeezed(values):
    """Without repeats of neighbours."""
    return [value for index, value in enumerate(values) if index == 0 or value != values[index - 1]]


def in_order(some, all_of_them):
    """Whether the values are among the others in the same order, each for itself."""
    rest = iter(all_of_them)
    return all(value in rest for value in some)


WORK.mkdir(exist_ok=True)
sys.exit(1 if Drive().run() else 0)
