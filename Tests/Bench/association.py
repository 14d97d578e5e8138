#!/usr/bin/python3
"""In the guest of Tests/Labs/wifi/lab: from the kernel's association to the printed snapshot, beside the line of `iw event`.

association.py FIELDPROBE
"""
import pathlib
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Labs" / "wifi"))
import nl80211  # noqa: E402
from labkit import FREQUENCY, WORK, AccessPoint, Probe, sh  # noqa: E402

WORK.mkdir(exist_ok=True)
sh("iw reg set US")
access_points = [AccessPoint("ap1", 0, "02:aa:00:00:00:01"), AccessPoint("ap2", 1, "02:aa:00:00:00:02")]
for access_point, channel in zip(access_points, (1, 6)):
    access_point.start(b"lab", channel)
sh("ip link set wlan2 up")
sh("ip addr add 10.9.0.9/24 dev wlan2")
sh("ip route add default via 10.9.0.1 dev wlan2")
probe = Probe(sys.argv[1])
events = []


def read(stream):
    for line in stream:
        if ": connected to " in line:
            events.append((time.monotonic(), float(line.split(":")[0]), line.split(": connected to ")[1].split()[0]))


listener = subprocess.Popen(["iw", "event", "-t"], stdout=subprocess.PIPE, text=True)
threading.Thread(target=read, args=(listener.stdout,), daemon=True).start()
time.sleep(1)
ours, peer = [], []
for number in range(40):
    access_point = access_points[number % 2]
    before = len(events)
    sh("iw dev wlan2 disconnect", check=False)
    time.sleep(0.7)
    nl80211.connect("wlan2", b"lab", FREQUENCY[access_point.channel], access_point.bssid)
    time.sleep(1.2)
    shown = [moment for moment, snapshot in probe.snapshots if snapshot.get("bssid") == access_point.bssid]
    told = [event for event in events[before:] if event[2] == access_point.bssid]
    if shown and told:
        # What both have in common, the way through the kernel, is not known to either: the earlier line counts as the event.
        start = min(told[0][0], max(moment for moment in shown))
        ours.append((max(shown) - start) * 1e3)
        peer.append((told[0][0] - start) * 1e3)
listener.terminate()
probe.end()
for access_point in access_points:
    access_point.stop()
difference = statistics.median(a - b for a, b in zip(ours, peer))
print(f"| association to printed snapshot, after the line of iw event, median of {len(ours)}, emulated machine "
      f"| {difference:+.1f} ms | 0 (iw event) | - |")
