#!/usr/bin/python3
"""Records what a real kernel answers, as the fuzzer's first inputs: one file a message, the decoder's number in front. Standard library only.

record.py FOLDER [WIRELESS-INTERFACE]    links, addresses, routes and neighbours of this namespace; Wi-Fi where an interface is named
"""
import pathlib
import socket
import struct
import sys

FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(parents=True, exist_ok=True)
REQUEST, DUMP = 1, 0x300


def answers(protocol, kind, body, flags):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as connection:
        connection.bind((0, 0))
        connection.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)
        while True:
            data = connection.recv(1 << 17)
            position = 0
            while position + 16 <= len(data):
                length, answer = struct.unpack_from("IH", data, position)
                if answer in (2, 3):
                    return
                yield data[position + 16:position + length]
                position += (length + 3) & ~3
            if not flags:
                return


def attribute(kind, payload):
    return struct.pack("HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def save(decoder, name, payloads):
    for number, payload in enumerate(payloads):
        (FOLDER / f"{name}-{number}").write_bytes(bytes([decoder]) + payload)


if len(sys.argv) < 3:
    save(1, "link", answers(0, 18, bytes(16), DUMP))
    save(2, "address", answers(0, 22, bytes(8), DUMP))
    save(10, "neighbour", answers(0, 30, bytes(12), DUMP))
    save(3, "route", answers(0, 26, struct.pack("BBBBBBBBI", 2, 32, 0, 0, 0, 0, 0, 0, 0) + attribute(1, bytes([203, 0, 113, 9])), 0))
    save(3, "route6", answers(0, 26, struct.pack("BBBBBBBBI", 10, 128, 0, 0, 0, 0, 0, 0, 0) + attribute(1, b" \1\r\xb8" + bytes(12)), 0))
else:
    family = None
    for payload in answers(16, 16, struct.pack("BBH", 3, 1, 0) + attribute(2, b"nl80211\0"), 0):
        position = 4
        while position + 4 <= len(payload):
            length, kind = struct.unpack_from("HH", payload, position)
            if kind == 1:
                family = struct.unpack_from("H", payload, position + 4)[0]
            position += max(4, (length + 3) & ~3)
    index = attribute(3, struct.pack("I", socket.if_nametoindex(sys.argv[2])))
    for decoder, name, command, flags in ((4, "interface", 5, 0), (5, "station", 17, DUMP), (6, "bss", 32, DUMP)):
        save(decoder, name, (payload[4:] for payload in answers(16, family, struct.pack("BBH", command, 0, 0) + index, flags)))
