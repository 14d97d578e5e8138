"""Reports for tests: a drive with changes of the connection, and one in which every text tries to be markup."""
import math
import uuid

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&\u202e"


def drive(points=90, ssid="depot", hostile=False):
    identifier = str(uuid.uuid4())
    text = HOSTILE if hostile else None
    fixes = []
    for index in range(points):
        angle = index / points * 5
        fixes.append({
            "client_time": "2026-11-30T12:00:00.000Z", "offset_ms": index * 1000,
            "latitude": 48.2082 + 0.0009 * math.sin(angle) + index * 2e-5, "longitude": 16.3738 + 0.0014 * math.cos(angle) + index * 4e-5,
            "horizontal_accuracy": 2.5 + index % 4, "fix_mode": 3})
    wifi = {"type": "wifi", "interface": "wlan0", "ip_address": "192.0.2.17", "prefix_length": 24, "is_internet_reachable": True,
            "is_connection_expensive": False, "ssid": text or ssid, "bssid": "02:00:00:00:00:01"}
    cell = {"type": "cellular", "interface": "wwan0", "ip_address": "198.51.100.9", "is_internet_reachable": True,
            "is_connection_expensive": True, "radio_technology": "lte", "operator": text or "Example Mobile"}
    steps = [(0, {**wifi, "rssi": -48}), (14000, {**wifi, "rssi": -63}), (25000, {**wifi, "rssi": -81}),
             (31000, {"type": "none", "is_internet_reachable": False}), (34000, {**cell, "rsrp": -92}), (52000, {**cell, "rsrp": -118}),
             (63000, {**cell, "rsrp": -104}), (78000, {"type": "ethernet", "interface": "eth0", "ip_address": "203.0.113.5", "is_internet_reachable": True})]
    return {
        "schema": "fieldprobe/report/1", "id": identifier, "type": "WEB", "subject": text[:90] if text else "website",
        "client_version": "0.1.0", "started_at": "2026-11-30T12:00:00.000Z", "finished_at": "2026-11-30T12:01:30.000Z",
        "duration_ms": points * 1000, "finished_reason": "completed", "target": {"host": text or "www.example.org", "addresses": ["192.0.2.80"]},
        "result": {"url": "https://www.example.org/", "status": 200, "dns_ms": 12.4, "connect_ms": 31.0, "tls_ms": 44.8,
                   "first_octet_ms": 121.3, "total_ms": 402.9, "octets": 182331, "note": text or "first visit\nno cache"},
        "connection_detail_trace": [{"client_time": "2026-11-30T12:00:00.000Z", "offset_ms": at, **fields} for at, fields in steps],
        "geolocation_trace": fixes,
        "collectors": [
            {"name": "connection-detail", "version": "1.0", "trace": "connection_detail_trace", "state": "ok", "recorded": len(steps),
             "suppressed": 41, "rejected": {}, "gaps": [{"from_offset_ms": 31000, "to_offset_ms": 32500, "reason": text or "event loss"}], "resyncs": 1},
            {"name": "geolocation", "version": "1.0", "trace": "geolocation_trace", "state": "ok", "recorded": points, "suppressed": 7,
             "rejected": {"approximate": 3}, "gaps": [], "resyncs": 0},
            {"name": text or "thermal", "version": "0.3", "trace": "thermal_trace", "state": "unavailable", "reason": text or "no thermal zone", "recorded": 0}],
        "permissions": {"precise_location": True, "wifi_identity": True, "purpose": "drive-test"}, "time": {"synchronised": True}}
