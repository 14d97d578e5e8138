#!/usr/bin/python3
"""A receiver for a real gpsd, played from a script: NMEA 0183 sentences by UDP, in real time.

    nmea_feeder.py --to 127.0.0.1:PORT [options] STEP...

A STEP is KIND:SECONDS with optional ,key=value pairs; the steps follow one another:

    move     a 3D fix that travels: speed= (m/s), heading= (degrees)
    still    a 3D fix that stands
    flat     a 2D fix, without altitude
    nofix    a receiver that has lost its fix: sentences without a position
    silence  nothing at all

    Keys for all that have a fix: quality= (GGA: 1 GPS, 2 DGPS, 4 RTK fixed, 5 RTK float, 6 dead reckoning, 7 manual,
    8 simulated), hdop=, sats=.  For all: rate= (Hz).

Options: --lat --lon --alt (start), --rate (Hz), --since SECONDS (the receiver's date as seconds since 1970; its own
clock then runs on from there), --loop (begin again after the last step).

gpsd reads it as `gpsd -N -n -b -S PORT udp://127.0.0.1:PORT`. By UDP nothing is probed and nothing is lost at the start, and
silence, a loss of fix and a restart of gpsd look as they do with a device.
"""
import argparse
import math
import socket
import time

METRES_PER_DEGREE = 111_195.0
KNOT = 1852 / 3600
# What RMC calls the GGA qualities.
RMC_MODE = {1: "A", 2: "D", 4: "R", 5: "F", 6: "E", 7: "M", 8: "S"}


def sentence(body):
    """With talker, checksum and line end."""
    body = "GP" + body
    checksum = 0
    for character in body.encode():
        checksum ^= character
    return f"${body}*{checksum:02X}\r\n"


def angle(degrees, width, positive, negative):
    """Degrees and decimal minutes, and the hemisphere."""
    # Rounded before it is split, so that no minute ever reads 60.
    millionths = round(abs(degrees) * 60_000_000)
    whole, minutes = divmod(millionths, 60_000_000)
    return f"{whole:0{width}d}{minutes / 1_000_000:09.6f},{positive if degrees >= 0 else negative}"


class Step:
    def __init__(self, text, rate):
        kind, _, rest = text.partition(":")
        seconds, *pairs = rest.split(",")
        values = dict(pair.split("=", 1) for pair in pairs)
        if kind not in ("move", "still", "flat", "nofix", "silence"):
            raise SystemExit(f"unknown step '{kind}'")
        self.kind = kind
        self.rate = float(values.get("rate", rate))
        self.epochs = max(1, round(float(seconds) * self.rate))
        self.speed = float(values.get("speed", 0)) if kind == "move" else 0.0
        self.heading = float(values.get("heading", 90))
        self.has_fix = kind in ("move", "still", "flat")
        self.quality = int(values.get("quality", 1)) if self.has_fix else 0
        self.hdop = float(values.get("hdop", 0.9))
        self.sats = int(values.get("sats", 3 if kind == "flat" else 9)) if self.has_fix else 0


class Receiver:
    def __init__(self, lat, lon, alt):
        self.lat, self.lon, self.alt = lat, lon, alt

    def advance(self, step, seconds):
        way = step.speed * seconds
        heading = math.radians(step.heading)
        self.lat += way * math.cos(heading) / METRES_PER_DEGREE
        self.lon += way * math.sin(heading) / (METRES_PER_DEGREE * math.cos(math.radians(self.lat)))

    def epoch(self, step, moment):
        """The sentences of one epoch: position, precision, and position with date last, so that it ends the cycle."""
        milliseconds = round(moment * 1000)
        date = time.gmtime(milliseconds // 1000)
        clock = time.strftime("%H%M%S", date) + f".{milliseconds % 1000:03d}"
        place = angle(self.lat, 2, "N", "S") + "," + angle(self.lon, 3, "E", "W") if step.has_fix else ",,,"
        # gpsd 3.22 takes a GGA with an altitude for a 3D fix, whatever GSA says.
        height = f"{self.alt:.2f},M,40.0,M" if step.has_fix and step.kind != "flat" else ",,,"
        mode = 1 if not step.has_fix else 2 if step.kind == "flat" else 3
        used = ",".join(f"{number + 1:02d}" if number < step.sats else "" for number in range(12))
        valid, motion = ("A", f"{step.speed / KNOT:.3f},{step.heading:.1f}") if step.has_fix else ("V", ",")
        return "".join(
            (
                sentence(f"GGA,{clock},{place},{step.quality},{step.sats:02d},{step.hdop:.1f},{height},,"),
                sentence(f"GSA,A,{mode},{used},{step.hdop * 1.6:.1f},{step.hdop:.1f},{step.hdop * 1.3:.1f}"),
                sentence(
                    f"RMC,{clock},{valid},{place},{motion},{time.strftime('%d%m%y', date)},,,"
                    + RMC_MODE.get(step.quality, "N")
                ),
            )
        )


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("steps", nargs="+", metavar="STEP")
    parser.add_argument("--to", required=True, metavar="HOST:PORT")
    parser.add_argument("--lat", type=float, default=48.0)
    parser.add_argument("--lon", type=float, default=11.0)
    parser.add_argument("--alt", type=float, default=520.0)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--since", type=float)
    parser.add_argument("--loop", action="store_true")
    options = parser.parse_args()

    host, _, port = options.to.rpartition(":")
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver = Receiver(options.lat, options.lon, options.alt)
    begun = time.monotonic()
    # On a whole tenth, as receivers report.
    epoch0 = round(options.since if options.since is not None else time.time(), 1)
    elapsed = 0.0
    while True:
        for step in [Step(text, options.rate) for text in options.steps]:
            for _ in range(step.epochs):
                time.sleep(max(0.0, begun + elapsed - time.monotonic()))
                if step.kind != "silence":
                    try:
                        out.sendto(receiver.epoch(step, epoch0 + elapsed).encode(), (host, int(port)))
                    except OSError:
                        pass  # gpsd is away: as a wire without a reader.
                elapsed += 1 / step.rate
                receiver.advance(step, 1 / step.rate)
        if not options.loop:
            return


if __name__ == "__main__":
    main()
