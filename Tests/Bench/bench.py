#!/usr/bin/python3
"""Performance of fieldprobe beside peers, in the same run, as ratios. Standard library only.

bench.py FIELDPROBE [NAME...]    NAME: event fix flood idle start download (all without)

Everything happens in network namespaces of its own and on loopback. A figure below 1 means that fieldprobe takes less than the peer.
"""
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROBE = os.path.abspath(sys.argv[1])
NAMES = sys.argv[2:]
NO_GPS = ["--set", "collector.geolocation.enabled=no"]
TARGET = "203.0.113.9"


def main():
    if os.environ.get("BENCH_INSIDE") != "1":
        os.environ["BENCH_INSIDE"] = "1"
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        os.execvp("unshare", ["unshare", *user, "--net", "--mount", sys.executable, *sys.argv])
    ip("link set lo up")
    benches = {
        "event": event, "fix": fix, "flood": flood, "idle": idle, "start": start, "download": download,
    }
    print("| measured | fieldprobe | peer | ratio |")
    print("|---|---|---|---|")
    for name, bench in benches.items():
        if not NAMES or name in NAMES:
            bench()


# -- tools


def ip(words):
    subprocess.run(["ip", *words.split()], check=True)


def batch(lines):
    subprocess.run(["ip", "-force", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def two_links():
    for name in ("d0", "d1"):
        ip(f"link add {name} type veth peer name p{name}")
        ip(f"link set {name} addrgenmode none")
        ip(f"link set p{name} addrgenmode none")
        ip(f"link set {name} up")
        ip(f"link set p{name} up")
    ip("addr add 192.0.2.2/24 dev d0")
    ip("addr add 198.51.100.2/24 dev d1")
    ip("route add default via 192.0.2.1")


def no_links():
    for name in ("d0", "d1"):
        ip(f"link del {name}")


def watch(*words):
    return Child([PROBE, "watch", "--json", "--set", f"collector.connection-detail.target={TARGET}", *words])


class Child:
    """A program whose standard output is read with the time of each line's arrival."""

    def __init__(self, command, **options):
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.rest = b""

    def read(self):
        """The lines that are there now."""
        try:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
        except BlockingIOError:
            return []
        *lines, self.rest = (self.rest + data).split(b"\n")
        return lines

    def wait_for(self, condition, seconds=10):
        """The moment at which a line came that the condition likes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            select.select([self.process.stdout], [], [], 0.5)
            now = time.monotonic()
            if any(condition(line) for line in self.read()):
                return now
        raise SystemExit(f"bench: {self.process.args} said nothing of what was waited for")

    def cpu(self):
        """Seconds of processor time, user and system, of the process."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_fine(self):
        """The same in nanoseconds, from the scheduler's account of each thread."""
        total = 0
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            total += int((thread / "schedstat").read_text().split()[0])
        return total / 1e9

    def switches(self):
        """Voluntary context switches of all threads: how often it woke up."""
        total = 0
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            for line in (thread / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches"):
                    total += int(line.split()[1])
        return total

    def memory(self):
        """Proportional and resident set size in KiB."""
        sizes = {}
        for line in pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()[1:]:
            key, value = line.split()[:2]
            sizes[key] = int(value)
        return sizes["Pss:"], sizes["Rss:"]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def row(what, ours, peer, unit, name, digits=2):
    ratio = f"{ours / peer:.3g}" if peer else "-"
    print(f"| {what} | {ours:.{digits}f} {unit} | {peer:.{digits}f} {unit} ({name}) | {ratio} |", flush=True)


def spread(values):
    values = sorted(values)
    return statistics.median(values), values[int(len(values) * 0.9)]


# -- benches


def event():
    """From a route change to the line that shows it."""
    two_links()
    ours, peer = watch(*NO_GPS), Child(["ip", "monitor", "route"])
    ours.wait_for(lambda line: b"snapshot" in line)
    time.sleep(0.5)
    changer = subprocess.Popen(["ip", "-batch", "-"], stdin=subprocess.PIPE)
    times = {"ours": [], "peer": []}
    for number in range(200):
        gateway = f"192.0.2.{number % 100 + 10}"
        peer.read()
        begin = time.monotonic()
        changer.stdin.write(f"route replace default via {gateway}\n".encode())
        changer.stdin.flush()
        waiting = {ours.process.stdout: ("ours", ours), peer.process.stdout: ("peer", peer)}
        while waiting:
            for ready in select.select(list(waiting), [], [], 5)[0]:
                now = time.monotonic()
                name, child = waiting[ready]
                if any(gateway.encode() in line for line in child.read()):
                    times[name].append((now - begin) * 1e3)
                    del waiting[ready]
        # Each change is a burst of its own.
        time.sleep(0.08)
    changer.stdin.close()
    changer.wait()
    for child in (ours, peer):
        child.end()
    for label, index in (("median", 0), ("90 %", 1)):
        row(f"route change to printed snapshot, {label}", spread(times["ours"])[index], spread(times["peer"])[index], "ms", "ip monitor")
    no_links()


def tpv(number):
    report = {
        "class": "TPV", "device": "/dev/bench", "mode": 3, "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1.79e9 + number)) + ".000Z",
        "ept": 0.005, "lat": 52 + number * 1e-4, "lon": 13.0, "altHAE": 80.0, "altMSL": 40.0, "epx": 3.0, "epy": 3.0, "epv": 6.0,
        "track": 0.0, "speed": 11.1, "eph": 5.0,
    }
    return json.dumps(report, separators=(",", ":")).encode() + b"\r\n"


def fix():
    """From gpsd's line to the recorded fix, beside a client that prints the line as it is."""
    if not shutil.which("gpspipe"):
        print("| TPV line to recorded fix | - | gpspipe is not installed | - |")
        return
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    ours = Child([
        PROBE, "watch", "--json", "--collector", "geolocation", "--set", f"collector.geolocation.gpsd=127.0.0.1:{port}",
        "--set", "permissions.precise-location=yes",
    ])
    peer = Child(["gpspipe", "-w", f"127.0.0.1:{port}"])
    clients = []

    def serve(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for ready in select.select([server, *clients], [], [], 0.05)[0]:
                if ready is server:
                    client = server.accept()[0]
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    client.sendall(b'{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}\r\n')
                    clients.append(client)
                else:
                    try:
                        data = ready.recv(4096)
                    except ConnectionResetError:
                        data = b""
                    if not data:
                        clients.remove(ready)
                    elif b"WATCH" in data:
                        ready.sendall(
                            b'{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/bench","activated":"2026-09-21T14:13:20.000Z"}]}\r\n'
                            b'{"class":"WATCH","enable":true,"json":true}\r\n')

    serve(2)
    times = {"ours": [], "peer": []}
    for number in range(100):
        for child in (ours, peer):
            child.read()
        begin = time.monotonic()
        for client in list(clients):
            try:
                client.sendall(tpv(number))
            except OSError:
                clients.remove(client)
        waiting = {ours.process.stdout: ("ours", ours, b'"latitude"'), peer.process.stdout: ("peer", peer, b'"lat"')}
        while waiting:
            readable = select.select(list(waiting), [], [], 5)[0]
            if not readable:
                raise SystemExit("bench: a fix was not shown")
            for ready in readable:
                now = time.monotonic()
                name, child, word = waiting[ready]
                if any(word in line for line in child.read()):
                    times[name].append((now - begin) * 1e3)
                    del waiting[ready]
        serve(max(0, 1 - (time.monotonic() - begin)) if number < 5 else 0.2)
    for child in (ours, peer):
        child.end()
    # The first few wait for what else may come of their second; after that the receiver's cycle is known.
    for label, index in (("median", 0), ("90 %", 1)):
        row(f"TPV line to printed fix, {label}", spread(times["ours"])[index], spread(times["peer"])[index], "ms", "gpspipe -w")


def flood():
    """Processor time for 100,000 route changes that do not concern the target, and whether one that does is still seen."""
    two_links()
    ours, peer = watch(*NO_GPS), Child(["ip", "monitor", "route"])
    ours.wait_for(lambda line: b"snapshot" in line)
    time.sleep(0.5)
    before = ours.cpu_fine(), peer.cpu_fine(), ours.switches(), peer.switches()
    for verb in ("add", "del"):
        lines = [f"route {verb} 11.{number >> 8}.{number & 255}.0/24 via 192.0.2.1" for number in range(50000)]
        changer = subprocess.Popen(["ip", "-force", "-batch", "-"], stdin=subprocess.PIPE, text=True)
        for begin in range(0, len(lines), 1000):
            changer.stdin.write("\n".join(lines[begin:begin + 1000]) + "\n")
            peer.read()
        changer.stdin.close()
        while changer.poll() is None:
            select.select([peer.process.stdout], [], [], 0.01)
            peer.read()
    after = ours.cpu_fine(), peer.cpu_fine(), ours.switches(), peer.switches()
    row("CPU for 100,000 irrelevant route changes", (after[0] - before[0]) * 1e3, (after[1] - before[1]) * 1e3, "ms", "ip monitor", 3)
    row("wake-ups for the same", after[2] - before[2], after[3] - before[3], "", "ip monitor", 0)
    ip("route replace default via 192.0.2.77")
    ours.wait_for(lambda line: b"192.0.2.77" in line)
    for child in (ours, peer):
        child.end()
    no_links()


def idle():
    """Memory and wake-ups of a probe that waits, beside collectd with its netlink and gps plugins."""
    two_links()
    ours = watch(*NO_GPS)
    ours.wait_for(lambda line: b"snapshot" in line)
    peer = None
    if shutil.which("collectd") and pathlib.Path("/usr/lib/collectd/netlink.so").exists():
        folder = tempfile.mkdtemp()
        config = pathlib.Path(folder, "collectd.conf")
        gps = 'LoadPlugin gps\n<Plugin gps>\nHost "127.0.0.1"\nPort "9"\n</Plugin>\n' if pathlib.Path("/usr/lib/collectd/gps.so").exists() else ""
        config.write_text(
            f'BaseDir "{folder}"\nPIDFile "{folder}/pid"\nPluginDir "/usr/lib/collectd"\nTypesDB "/usr/share/collectd/types.db"\n'
            f'Interval 10\nLoadPlugin netlink\n<Plugin netlink>\nVerboseInterface "All"\n</Plugin>\n{gps}')
        peer = Child(["collectd", "-f", "-C", str(config)])
    time.sleep(5)
    before = ours.switches(), peer.switches() if peer else 0, ours.cpu_fine(), peer.cpu_fine() if peer else 0
    time.sleep(30)
    after = ours.switches(), peer.switches() if peer else 0, ours.cpu_fine(), peer.cpu_fine() if peer else 0
    name = "collectd, netlink and gps" if peer else "collectd is not installed"
    memory = ours.memory(), peer.memory() if peer else (0, 0)
    row("idle, resident memory (Rss)", memory[0][1] / 1024, memory[1][1] / 1024, "MiB", name, 1)
    row("idle, proportional memory (Pss)", memory[0][0] / 1024, memory[1][0] / 1024, "MiB", name, 1)
    row("idle, wake-ups a minute", (after[0] - before[0]) * 2, (after[1] - before[1]) * 2, "", name, 0)
    row("idle, CPU a minute", (after[2] - before[2]) * 2e3, (after[3] - before[3]) * 2e3, "ms", name, 2)
    ours.end()
    if peer:
        peer.end()
    no_links()


def start():
    """From the start of the program to the first snapshot, with 2 and with 200,000 routes."""

    def first():
        child = watch(*NO_GPS)
        seconds = child.wait_for(lambda line: b"snapshot" in line) - child.started
        child.end()
        return seconds * 1e3

    def dump():
        begin = time.monotonic()
        subprocess.run(["ip", "route", "show"], stdout=subprocess.DEVNULL, check=True)
        return (time.monotonic() - begin) * 1e3

    two_links()
    first()
    few = statistics.median(first() for _ in range(20)), statistics.median(dump() for _ in range(20))
    batch(f"route add 11.{number >> 14}.{number >> 6 & 255}.{(number & 63) * 4}/30 via 192.0.2.1" for number in range(200000))
    # The kernel is still busy with what was loaded.
    time.sleep(3)
    many = statistics.median(first() for _ in range(20)), statistics.median(dump() for _ in range(5))
    row("start to first snapshot, 2 routes", few[0], few[1], "ms", "ip route show, a whole dump")
    row("start to first snapshot, 200,000 routes", many[0], many[1], "ms", "ip route show, a whole dump")
    print(f"| 200,000 routes against 2 | x {many[0] / few[0]:.2f} | x {many[1] / few[1]:.1f} (ip route show) | - |", flush=True)
    no_links()


def download():
    """A transfer between two namespaces, alternately with both collectors and with none."""
    octets = 1 << 30
    with subprocess.Popen(
        ["unshare", "--net", sys.executable, "-c", SERVER, str(octets)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            download_from(server)
        finally:
            server.kill()
    ip("link del d0")


def download_from(server):
    server.stdout.readline()
    ip("link add d0 type veth peer name p0")
    ip(f"link set p0 netns /proc/{server.pid}/ns/net")
    ip("addr add 192.0.2.2/24 dev d0")
    ip("link set d0 up")
    server.stdin.write("go\n")
    server.stdin.flush()
    server.stdout.readline()
    times = {"with": [], "without": []}
    off = [*NO_GPS, "--set", "collector.connection-detail.enabled=no"]
    on = ["--set", "permissions.precise-location=yes", "--set", "collector.geolocation.gpsd=127.0.0.1:9"]
    for number in range(42):
        name, words = ("with", on) if number % 2 else ("without", off)
        report = tempfile.mktemp()
        subprocess.run(
            [PROBE, "run", "--unregistered", "--target", "192.0.2.1", "--output", report, *words, "--", sys.executable, "-c", CLIENT],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = json.loads(pathlib.Path(report).read_text())["result"]["output"]["seconds"]
        os.unlink(report)
        if number >= 2:
            times[name].append(seconds)
    row("download of 1 GiB, median", statistics.median(times["with"]), statistics.median(times["without"]), "s", "without collectors", 3)
    row("download of 1 GiB, 90 %", spread(times["with"])[1], spread(times["without"])[1], "s", "without collectors", 3)


SERVER = """
import socket, subprocess, sys
print("here", flush=True)
sys.stdin.readline()
for words in ("link set lo up", "addr add 192.0.2.1/24 dev p0", "link set p0 up"):
    subprocess.run(["ip", *words.split()], check=True)
listener = socket.create_server(("192.0.2.1", 80))
print("listening", flush=True)
block = bytes(1 << 20)
while True:
    client = listener.accept()[0]
    for _ in range(int(sys.argv[1]) >> 20):
        client.sendall(block)
    client.close()
"""

CLIENT = """
import json, socket, time
begin = time.monotonic()
connection = socket.create_connection(("192.0.2.1", 80))
buffer = bytearray(1 << 20)
while connection.recv_into(buffer):
    pass
print(json.dumps({"seconds": time.monotonic() - begin}))
"""

if __name__ == "__main__":
    main()
