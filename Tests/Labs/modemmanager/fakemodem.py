#!/usr/bin/python3
"""A cellular modem that answers AT commands, as much as ModemManager's generic plugin asks for (3GPP TS 27.007).

fakemodem.py STATE-FILE SOCKET...    on abstract Unix sockets, as ModemManager's test interface opens them

The state file holds KEY=VALUE lines and is read for each command: act (access technology: 0 GSM, 2 UMTS, 7 LTE), reg (1 home, 2 searching,
5 roaming), csq (0 to 31), op (operator code), opname, area and cell (hexadecimal). A change is told unasked, as a modem does.
"""
import os
import pathlib
import re
import socket
import sys
import threading
import time

STATE_FILE = pathlib.Path(sys.argv[1])
DEFAULTS = {"act": "7", "reg": "1", "csq": "20", "op": "26201", "opname": "Simulated", "area": "00A1", "cell": "01B2C3D4"}
clients = set()
radio = {"cfun": "1", "format": "2"}


def state():
    values = dict(DEFAULTS)
    try:
        values.update(line.split("=", 1) for line in STATE_FILE.read_text().splitlines() if "=" in line)
    except OSError:
        pass
    return values


def registration(values):
    where = f',"{values["area"]}","{values["cell"]}",{values["act"]}' if values["reg"] in "15" else ""
    return values["reg"] + where


def answer(command):
    """The information part of the answer, empty for a plain OK, or None for ERROR."""
    values, upper = state(), command.upper()
    if upper in ("I", "I1"):
        return "FakeModem 1.0"
    if match := re.fullmatch(r"\+COPS=3,(\d)", upper):
        radio["format"] = match[1]
        return ""
    if match := re.fullmatch(r"\+CFUN=(\d).*", upper):
        radio["cfun"] = match[1]
        return ""
    if match := re.fullmatch(r"\+(CREG|CGREG|CEREG)\?", upper):
        return f"+{match[1]}: 2,{registration(values)}"
    operator = values["op"] if radio["format"] == "2" else values["opname"]
    fixed = {
        "+CGMI": "Fake", "+GMI": "Fake", "+CGMM": "FM1", "+GMM": "FM1", "+CGMR": "1.0", "+GMR": "1.0", "+CGSN": "490154203237518",
        "+GSN": "490154203237518", "+GCAP": "+GCAP: +CGSM", "+CPIN?": "+CPIN: READY", "+CIMI": "001010123456789",
        "+CFUN?": f"+CFUN: {radio['cfun']}", "+CSQ": f"+CSQ: {values['csq']},99", "+CREG=?": "+CREG: (0-2)", "+CGREG=?": "+CGREG: (0-2)",
        "+CEREG=?": "+CEREG: (0-2)", "+WS46=?": "+WS46: (12,22,25,28,29)", "+WS46?": "+WS46: 25",
        "+COPS=3,2;+COPS?": f'+COPS: 0,2,"{values["op"]}",{values["act"]}', "+COPS=3,0;+COPS?": f'+COPS: 0,0,"{values["opname"]}",{values["act"]}',
        "+COPS?": f'+COPS: 0,{radio["format"]},"{operator}",{values["act"]}', "+CGDCONT=?": '+CGDCONT: (1-10),"IP",,,(0,1),(0,1)',
        "+CSCS=?": '+CSCS: ("IRA","UCS2","GSM")', "+CSCS?": '+CSCS: "UCS2"', "+CIND=?": '+CIND: ("battchg",(0-5)),("signal",(0-5))',
        "+CMGF=?": "+CMGF: (0,1)", "+CPMS=?": '+CPMS: ("SM"),("SM"),("SM")', "+CLCK=?": '+CLCK: ("SC")', '+CLCK="SC",2': "+CLCK: 0",
    }
    if upper in fixed:
        return fixed[upper]
    if upper.startswith("+CRSM=176,12258"):
        return '+CRSM: 144,0,"984900000000000021F3"'
    if upper.startswith("+CRSM"):
        return '+CRSM: 144,0,"00000002"'
    accepted = "CMEE|CREG|CGREG|CEREG|COPS|CSCS|CGDCONT|CIND|CMER|CNMI|CMGF|CPMS|CLIP|CRC|CCWA|CUSD|CSCA|IFC|CGACT|WS46|CNUM"
    if upper == "" or re.fullmatch(r"[EVXZH&S].*", upper) or re.match(rf"\+({accepted})(=|\?|$)", upper):
        return ""
    return None


def serve(connection):
    clients.add(connection)
    rest = b""
    while data := connection.recv(512):
        rest += data
        while b"\r" in rest:
            line, rest = rest.split(b"\r", 1)
            text = line.strip(b"\n ").decode("latin1")
            if text[:2].upper() != "AT":
                continue
            information = answer(text[2:])
            reply = "\r\nERROR\r\n" if information is None else (f"\r\n{information}\r\n" if information else "") + "\r\nOK\r\n"
            connection.sendall(reply.encode())
    clients.discard(connection)


def listen(name):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + name)
    listener.listen(4)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


for argument in sys.argv[2:]:
    threading.Thread(target=listen, args=(argument,), daemon=True).start()
known = state()
while True:
    time.sleep(0.05)
    if (now := state()) != known:
        known = now
        for client in list(clients):
            for name in ("CREG", "CGREG", "CEREG"):
                try:
                    client.sendall(f"\r\n+{name}: {registration(now)}\r\n".encode())
                except OSError:
                    pass
