"""Joining a network by nl80211 itself: `iw` takes no NUL in a name, and waits for ever where nothing comes. Standard library only."""
import socket
import struct
import time

# linux/genetlink.h and linux/nl80211.h
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
CMD_CONNECT = 46
ATTR_IFINDEX, ATTR_MAC, ATTR_WIPHY_FREQ, ATTR_SSID, ATTR_AUTH_TYPE = 3, 6, 38, 52, 53
NLM_F_REQUEST, NLM_F_ACK = 1, 4


def attribute(kind, payload):
    return struct.pack("HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def ask(connection, family, command, payload, flags=NLM_F_REQUEST):
    body = struct.pack("BBH", command, 1, 0) + payload
    connection.send(struct.pack("IHHII", 16 + len(body), family, flags, 1, 0) + body)
    answer = connection.recv(65536)
    kind = struct.unpack_from("H", answer, 4)[0]
    if kind == 2 and (code := struct.unpack_from("i", answer, 16)[0]):
        raise OSError(-code, f"nl80211 command {command}")
    return answer


def connect(interface, ssid, frequency, bssid):
    """Asks the kernel to join an open network. Whether it does is told by events."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16) as connection:
        connection.bind((0, 0))
        answer = ask(connection, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, attribute(CTRL_ATTR_FAMILY_NAME, b"nl80211\0"))
        position, family = 20, None
        while position + 4 <= len(answer):
            length, kind = struct.unpack_from("HH", answer, position)
            if kind == CTRL_ATTR_FAMILY_ID:
                family = struct.unpack_from("H", answer, position + 4)[0]
            position += max(4, (length + 3) & ~3)
        payload = (
            attribute(ATTR_IFINDEX, struct.pack("I", socket.if_nametoindex(interface))) + attribute(ATTR_SSID, ssid)
            + attribute(ATTR_MAC, bytes.fromhex(bssid.replace(":", ""))) + attribute(ATTR_WIPHY_FREQ, struct.pack("I", frequency))
            + attribute(ATTR_AUTH_TYPE, struct.pack("I", 0)))
        for _ in range(20):
            try:
                ask(connection, family, CMD_CONNECT, payload, NLM_F_REQUEST | NLM_F_ACK)
                return
            except OSError:
                # Busy with an earlier attempt, or joined to another one.
                time.sleep(0.1)
