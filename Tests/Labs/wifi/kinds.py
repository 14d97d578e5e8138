#!/usr/bin/python3
"""Kinds of devices that a small kernel does not have: what the probe calls each, and what it finds below.

kinds.py FIELDPROBE    in the guest of `lab run --radios 2`
"""
import pathlib
import subprocess
import sys

from labkit import WORK, AccessPoint, Probe, join, sh, wait_for

PROGRAM = sys.argv[1]
faults = []


def commands(lines):
    for line in lines.strip().splitlines():
        sh(line.strip())


def check(title, expected, *words, prefix=(), wifi=True):
    """Starts the probe in the present state and compares the fields that are named."""
    probe = Probe(PROGRAM, *words, wifi=wifi, prefix=prefix)
    got = {}

    def fits():
        got.update(probe.fields())
        return all(probe.fields().get(name) == value for name, value in expected.items())

    try:
        wait_for(fits, 5)
        print(f"ok    {title}", flush=True)
    except RuntimeError:
        shown = {name: probe.fields().get(name) for name in expected}
        faults.append(title)
        print(f"FAULT {title}: recorded {shown}, expected {expected}", flush=True)
    probe.end()


def addressed(device, address="10.20.0.2/24", gateway="10.20.0.1"):
    commands(f"""
        ip link set {device} up
        ip addr add {address} dev {device}
        ip route replace default via {gateway} dev {device}
    """)


def remove(*devices):
    for device in devices:
        sh(f"ip link del {device}", check=False)


ETHERNET = {"underlay_type": "ethernet"}
WORK.mkdir(exist_ok=True)
for module in ("dummy", "8021q", "bonding", "wireguard", "ipip", "ip_gre", "vxlan", "geneve", "vrf", "macvlan", "ipvlan", "bridge"):
    sh(f"modprobe {module}", check=False)

# Something that stands for hardware: a dummy is ethernet, and has carrier.
commands("""
    ip link add eth8 type dummy
    ip link add eth9 type dummy
    ip link set eth8 up
    ip link set eth9 up
    ip addr add 10.8.0.2/24 dev eth8
    ip addr add 10.9.0.2/24 dev eth9
""")

sh("ip link add link eth8 name v7 type vlan id 7")
addressed("v7")
check("a VLAN has the type of the device below", {"type": "ethernet", "interface": "v7", "underlay_interface": "eth8", **ETHERNET})
sh("ip link add link v7 name q8 type vlan id 8")
addressed("q8", "10.21.0.2/24", "10.21.0.1")
check("a VLAN in a VLAN: the bottom is below both", {"type": "ethernet", "interface": "q8", "underlay_interface": "eth8"})
remove("q8", "v7")

commands("""
    ip link add bond7 type bond mode active-backup
    ip link add s1 type dummy
    ip link add s2 type dummy
    ip link set s1 master bond7
    ip link set s2 master bond7
""")
addressed("bond7")
sh("ip link set bond7 type bond active_slave s2")
check("a bond has the type of its active port", {"type": "ethernet", "interface": "bond7", "underlay_interface": "s2", **ETHERNET})
remove("bond7", "s1", "s2")

commands("""
    ip link add br7 type bridge
    ip link add inner type veth peer name outer
    ip link set inner master br7
    ip link set inner up
    ip link set outer up
""")
addressed("br7")
check("a bridge with virtual ports only leads nowhere that is known", {"type": "other", "interface": "br7", "underlay_interface": None})
remove("br7", "inner")

sh("ip link add mv7 link eth8 type macvlan mode bridge")
addressed("mv7")
check("a macvlan", {"type": "ethernet", "interface": "mv7", "underlay_interface": "eth8"})
remove("mv7")
sh("ip link add iv7 link eth8 type ipvlan mode l2")
addressed("iv7")
check("an ipvlan", {"type": "ethernet", "interface": "iv7", "underlay_interface": "eth8"})
remove("iv7")

for kind, options in (
    ("ipip", "local 10.9.0.2 remote 10.9.0.7"), ("gre", "local 10.9.0.2 remote 10.9.0.7"), ("gretap", "local 10.9.0.2 remote 10.9.0.7"),
    ("vxlan", "id 7 remote 10.9.0.7 dstport 4789"), ("geneve", "id 7 remote 10.9.0.7"),
):
    sh(f"ip link add t7 type {kind} {options}")
    addressed("t7")
    check(f"{kind}: its remote end shows the underlay", {"type": "vpn", "interface": "t7", "underlay_interface": "eth9", **ETHERNET})
    sh("ip route replace 10.9.0.7 via 10.8.0.1 dev eth8 onlink")
    check(f"{kind}: the underlay follows the route to it", {"type": "vpn", "interface": "t7", "underlay_interface": "eth8"})
    sh("ip route del 10.9.0.7", check=False)
    remove("t7")

# WireGuard, set up as wg-quick does: its own packets carry a mark, everything else goes into the tunnel.
key = WORK / "key"
key.write_text("yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n")
sh("ip link add wg7 type wireguard")
try:
    sh(f"wg set wg7 private-key {key} fwmark 51820 peer xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg= "
       "endpoint 10.9.0.7:51820 allowed-ips 0.0.0.0/0")
    commands("""
        ip link set wg7 up
        ip addr add 10.20.0.2/32 dev wg7
        ip route replace default via 10.8.0.1 dev eth8
        ip route add default dev wg7 table 51820
        ip rule add not fwmark 51820 table 51820
        ip rule add table main suppress_prefixlength 0
    """)
    check("WireGuard as wg-quick sets it up: the peer's endpoint, with the tunnel's own mark",
          {"type": "vpn", "interface": "wg7", "underlay_interface": "eth9", **ETHERNET})
    commands("""
        ip rule del not fwmark 51820 table 51820
        ip rule del table main suppress_prefixlength 0
    """)
finally:
    remove("wg7")

# A VRF: who is bound to it, as `ip vrf exec` does for a whole program, has another default route.
commands("""
    ip link add vrf7 type vrf table 77
    ip link set vrf7 up
    ip link set eth9 master vrf7
    ip addr replace 10.9.0.2/24 dev eth9
    ip route replace default via 10.9.0.1 dev eth9 table 77
    ip route replace default via 10.8.0.1 dev eth8
""")
check("outside of the VRF", {"type": "ethernet", "interface": "eth8"})
sh("mount -t cgroup2 none /sys/fs/cgroup", check=False)
check("R-14 inside of the VRF the path is the VRF's", {"type": "ethernet", "interface": "eth9", "gateway": "10.9.0.1"},
      prefix=("ip", "vrf", "exec", "vrf7"))
commands("""
    ip link set eth9 nomaster
    ip link del vrf7
    ip addr replace 10.9.0.2/24 dev eth9
""")

# Wi-Fi below: a VLAN and a tunnel over it, an access point of one's own, and a monitor that is no station.
sh("iw reg set US")
access_point = AccessPoint("ap1", 0, "02:aa:00:00:00:01")
access_point.start(b"lab", 1)
sh("ip link set wlan1 up")
join("wlan1", access_point)
wait_for(lambda: "Connected" in sh("iw dev wlan1 link"), 20, "the station")
sh("ip addr add 10.30.0.2/24 dev wlan1")
WIFI = {"ssid": "lab", "bssid": "02:aa:00:00:00:01", "channel": 1}
sh("ip link add link wlan1 name wv7 type vlan id 7")
addressed("wv7")
check("a VLAN over Wi-Fi is Wi-Fi, with the association", {"type": "wifi", "interface": "wv7", "underlay_interface": "wlan1", **WIFI})
remove("wv7")
sh("ip link add t7 type ipip local 10.30.0.2 remote 10.30.0.1")
addressed("t7")
check("a VPN over Wi-Fi: the underlay is found, with its association",
      {"type": "vpn", "interface": "t7", "underlay_interface": "wlan1", "underlay_type": "wifi", **WIFI})
remove("t7")
commands("""
    ip route replace default via 10.30.0.1 dev wlan1
    iw phy phy1 interface add mon7 type monitor
    ip link set mon7 up
""")
check("a monitor beside the station is not taken for it", {"type": "wifi", "interface": "wlan1", **WIFI})
check("R-18 without the permission the names are left out, and the rest stays",
      {"type": "wifi", "interface": "wlan1", "ssid": None, "ssid_hex": None, "bssid": None, "channel": 1, "frequency": 2412}, wifi=False)
remove("mon7")
access_point.stop()
sh("ip netns del ap1", check=False)
wait_for(lambda: pathlib.Path("/sys/class/net/wlan0").exists(), 10, "the access point's radio")
own = WORK / "own.conf"
own.write_text("interface=wlan0\ndriver=nl80211\nhw_mode=g\nchannel=6\nssid=own\n")
with subprocess.Popen(["hostapd", str(own)], stdout=subprocess.PIPE, text=True) as daemon:
    for line in daemon.stdout:
        if "AP-ENABLED" in line:
            break
    addressed("wlan0", "10.40.0.1/24", "10.40.0.2")
    check("an access point of one's own is Wi-Fi without an association",
          {"type": "wifi", "interface": "wlan0", "ssid": None, "bssid": None, "rssi": None})
    daemon.terminate()

print(f"kinds: {len(faults)} faults", flush=True)
sys.exit(1 if faults else 0)
