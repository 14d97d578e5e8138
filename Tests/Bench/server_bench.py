#!/usr/bin/python3
"""Registrations, authentications and uploads per second of a fieldprobe-server on loopback, with p50 and p99.
Usage: server_bench.py FIELDPROBE-SERVER [SECONDS FOR EACH]"""
import gzip
import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import uuid

server, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
UNLIMITED = [f"--{name}=1000000000" for name in (
    "registrations-per-minute", "authentications-per-minute", "authentications-per-client", "uploads-per-minute")]


def report(size):
    points = [{"offset_ms": i * 1000, "latitude": 48.2 + i * 1e-5, "longitude": 16.37 + i * 1e-5, "horizontal_accuracy": 2.5} for i in range(size)]
    return {"schema": "fieldprobe/report/1", "type": "WEB", "subject": "website", "duration_ms": size * 1000, "geolocation_trace": points}


class Connection:
    """One device's kept connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method, path, body, headers=()):
        self.connection.request(method, f"/client_api/v1{path}", body, {"Content-Type": "application/json", **dict(headers)})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def register(self, key):
        device = {"machine": secrets.token_hex(32)}
        answer = self.call("POST", "/registrations", json.dumps({**device, "registration_key": key, "nonce": secrets.token_hex(16)}))
        return {**device, "client_uuid": answer["client_uuid"], "secret": answer["secret"]}

    def authenticate(self, device):
        return self.call("POST", "/authentications", json.dumps({**device, "nonce": secrets.token_hex(16)}))["token"]


def measure(name, threads, prepare, step):
    """Each thread prepares, then steps for the time; the latencies of all together."""
    latencies, lock, failures = [], threading.Lock(), []
    ready = threading.Barrier(threads + 1)

    def run():
        own = []
        try:
            state = prepare()
            ready.wait()
            end = time.perf_counter() + seconds
            while (begin := time.perf_counter()) < end:
                step(state)
                own.append(time.perf_counter() - begin)
        except Exception as error:
            failures.append(error)
            ready.abort()
        with lock:
            latencies.extend(own)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    ready.wait()
    begin = time.perf_counter()
    for worker in workers:
        worker.join()
    elapsed = time.perf_counter() - begin
    if failures:
        raise failures[0]
    latencies.sort()
    quantile = lambda share: latencies[min(len(latencies) - 1, int(len(latencies) * share))] * 1000
    print(f"{name:34}{threads:8}{len(latencies) / elapsed:11.0f}{quantile(0.5):10.2f}{quantile(0.99):10.2f}", flush=True)


with tempfile.TemporaryDirectory() as folder:
    data = f"{folder}/data"
    process = subprocess.Popen([server, "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "error", *UNLIMITED],
                               stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        key = subprocess.run([server, "key", "create", "--data", data], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        print(f"{'operation':34}{'threads':>8}{'a second':>11}{'p50 ms':>10}{'p99 ms':>10}")

        def plain():
            return Connection(port)

        def registered():
            connection = Connection(port)
            return connection, connection.register(key)

        def uploading(document):
            def prepare():
                connection, device = registered()
                return connection, connection.authenticate(device), document
            return prepare

        def upload(state):
            connection, token, document = state
            identifier = str(uuid.uuid4())
            body = json.dumps({**document, "id": identifier}).encode()
            connection.call("PUT", f"/measurements/{identifier}", body, {"Authorization": f"Bearer {token}"})

        def upload_packed(state):
            connection, token, document = state
            identifier = str(uuid.uuid4())
            body = gzip.compress(json.dumps({**document, "id": identifier}).encode(), 1)
            connection.call("PUT", f"/measurements/{identifier}", body, {"Authorization": f"Bearer {token}", "Content-Encoding": "gzip"})

        for threads in (1, 8):
            measure("registration", threads, plain, lambda c: c.register(key))
            measure("authentication", threads, registered, lambda s: s[0].authenticate(s[1]))
            measure("upload, 1 KiB", threads, uploading(report(8)), upload)
            measure("upload, 60 KiB in gzip", threads, uploading(report(600)), upload_packed)
        # The peer: the same library and the same database, and nothing else.
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plain_server.c")
        subprocess.run(["cc", "-O2", "-o", f"{folder}/plain", source, "-lmicrohttpd", "-lsqlite3"], check=True)
        with subprocess.Popen([f"{folder}/plain", f"{folder}/plain.sqlite3"], stdout=subprocess.PIPE, text=True) as peer:
            peer_port = int(peer.stdout.readline())
            document = json.dumps(report(8)).encode()
            for threads in (1, 8):
                measure("plain handler, one row, 1 KiB", threads, lambda: Connection(peer_port),
                        lambda connection: connection.call("PUT", "/measurements/x", document))
            peer.kill()
        status = open(f"/proc/{process.pid}/status").read()
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        print(f"peak memory {int(peak) / 1024:.0f} MiB, database {os.path.getsize(data + '/fieldprobe.sqlite3') / 2**20:.0f} MiB")
    finally:
        process.terminate()
        process.wait()
