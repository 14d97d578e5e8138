#!/usr/bin/python3
"""The queue beside its peers, on the disk under FOLDER. Usage: queue_bench.py WORKER [FOLDER]. WORKER is the release build of QueueWorker."""
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

COUNT, OCTETS = 200, 8192
worker = sys.argv[1]
here = pathlib.Path(__file__).parent


def microseconds(command):
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return sorted(float(line) for line in out if line)


def line(name, values, peer=None):
    median, p99 = statistics.median(values), values[int(len(values) * 0.99) - 1]
    ratio = f"  {median / statistics.median(peer):5.2f} of its peer" if peer else ""
    print(f"{name:<58} {median / 1000:7.2f} ms  p99 {p99 / 1000:7.2f} ms{ratio}")


class Link(threading.Thread):
    """A server that stores everything, behind a link of so many seconds of delay in each direction and with some loss: a lost segment comes
    after a retransmission time-out. Every octet is delayed, none is reordered."""

    def __init__(self, delay, loss):
        super().__init__(daemon=True)
        self.delay, self.loss, self.stored, self.connections, self.sent = delay, loss, 0, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            # The handshake's round trip.
            time.sleep(2 * self.delay)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def cross(self):
        self.sent += 1
        # Every twentieth is lost: the time-out is the round trip and 200 ms at least.
        lost = self.loss and self.sent % round(1 / self.loss) == 0
        time.sleep(self.delay + (max(0.2, 2 * self.delay) if lost else 0))

    def serve(self, connection):
        try:
            self.store(connection)
        except ConnectionResetError:
            # The client is through, and ends its connection with a reset.
            pass

    def store(self, connection):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            length = int(next(h for h in head.split(b"\r\n") if h.lower().startswith(b"content-length")).split(b":")[1])
            while len(data) < length:
                data += connection.recv(65536)
            data = data[length:]
            self.cross()
            name = head.split(b" ")[1].split(b"/")[-1].decode()
            self.stored += 1
            body = f'{{"id":"{name}"}}'.encode()
            self.cross()
            connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def drain(folder, reports, link):
    link.start()
    subprocess.run([worker, "enqueue", folder, "d", str(reports)], check=True, capture_output=True)
    start = time.monotonic()
    subprocess.run([worker, "upload", folder, str(link.port)], check=True, capture_output=True, env={"QUEUE_DRAIN": "1"})
    return time.monotonic() - start


with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as root:
    folder = lambda name: str(pathlib.Path(root, name))
    peer = folder("peer")
    subprocess.run(["cc", "-O2", "-o", peer, here / "queue_peer.c", "-lsqlite3"], check=True)
    for name in "calls", "sqlite":
        pathlib.Path(folder(name)).mkdir()
    calls = microseconds([peer, "calls", folder("calls"), str(COUNT), str(OCTETS)])
    sqlite = microseconds([peer, "sqlite", folder("sqlite"), str(COUNT), str(OCTETS)])
    mine = microseconds([worker, "bench", folder("mine"), str(COUNT), str(OCTETS), "100000"])
    full = microseconds([worker, "bench", folder("full"), str(COUNT), str(OCTETS), "50"])[COUNT // 4 :]
    print(f"One durable enqueue of {OCTETS} octets, {COUNT} of them on {root}")
    line("the same system calls in C", calls)
    line("fieldprobe, beside the same calls in C", mine, calls)
    line("one SQLite insert, WAL, synchronous=FULL", sqlite)
    line("fieldprobe, beside SQLite", mine, sqlite)
    line("fieldprobe with 50 pending, each drops the oldest", full, calls)
    written = subprocess.run([worker, "written", folder("written"), "100", str(OCTETS)], check=True, capture_output=True, text=True).stdout
    print(f"octets handed to the kernel for one report of {OCTETS}: {written.strip()}")
    seconds = drain(folder("drain"), 500, Link(0, 0))
    print(f"drain over loopback: {500 / seconds:.0f} reports/s, one connection, each waits for its answer")
    link = Link(0.1, 0.05)
    seconds = drain(folder("far"), 50, link)
    ideal = 50 * 0.2 + 0.2
    print(f"50 reports over 200 ms and 5 % loss: {seconds:.1f} s on {link.connections} connection; without loss {ideal:.1f} s is the least")
