"""Starts a server as systemd does: with a listening socket at descriptor 3, and a socket to report to. Usage: activation.py SERVER DATA"""
import os
import socket
import sys
import tempfile
import urllib.request

listener = socket.create_server(("127.0.0.1", 0))
folder = tempfile.TemporaryDirectory()
reports = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
reports.bind(f"{folder.name}/notify")
reports.settimeout(60)
pid = os.fork()
if pid == 0:
    # dup2() leaves the copy open across exec(), unless it is the same descriptor.
    if listener.fileno() == 3:
        os.set_inheritable(3, True)
    else:
        os.dup2(listener.fileno(), 3)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=f"{folder.name}/notify", WATCHDOG_USEC="3000000")
    os.environ.pop("WATCHDOG_PID", None)
    os.execv(sys.argv[1], [sys.argv[1], "serve", "--data", sys.argv[2], "--listen", "127.0.0.1:1"])


def expect(word):
    while True:
        report = reports.recv(4096).decode()
        if word in report:
            print(report, flush=True)
            return


expect("READY=1")
print("health", urllib.request.urlopen(f"http://127.0.0.1:{listener.getsockname()[1]}/health", timeout=60).status)
expect("WATCHDOG=1")
os.kill(pid, 15)
expect("STOPPING=1")
print("ended", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
