"""A GPS receiver for the real gpsd: moves along the track of a GPX file.

    emulated-receiver.py TRACK PORT SPEED

Eight times a second, it sends its position to a UDP port of this machine: a datagram with the NMEA
sentences GGA, GSA and RMC. gpsd reads them from the device udp://127.0.0.1:PORT. The receiver
begins at the first position of the track. A line on its standard input names a waypoint of the
file: the receiver moves forward to the position of the track that is nearest to the waypoint, SPEED
times as fast as the track was recorded, and then prints the name. The sentences contain the time of
this machine, and the speed with which the track was recorded, or 0 while the receiver stands. The
program ends with its input.
"""

import math
import select
import socket
import sys
import xml.etree.ElementTree
from datetime import datetime, timezone

GPX = "{http://www.topografix.com/GPX/1/1}"
# Seconds between two positions.
INTERVAL = 0.125


class Track:
    """The positions of a GPX file, each with its time in seconds after the first position."""

    def __init__(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.points = [self.point(element) for element in root.iter(GPX + "trkpt")]
        start = self.points[0][0]
        self.points = [(at - start, *rest) for at, *rest in self.points]
        self.waypoints = {
            element.find(GPX + "name").text: self.time_near(element)
            for element in root.iter(GPX + "wpt")
        }

    @staticmethod
    def point(element):
        at = datetime.fromisoformat(element.find(GPX + "time").text.replace("Z", "+00:00"))
        altitude = float(element.find(GPX + "ele").text)
        return at.timestamp(), float(element.get("lat")), float(element.get("lon")), altitude

    def time_near(self, waypoint):
        """Returns the first time at which the track is nearest to a waypoint."""
        place = float(waypoint.get("lat")), float(waypoint.get("lon"))
        return min(self.points, key=lambda point: distance(point[1:3], place))[0]

    def position(self, at):
        """Returns latitude, longitude, altitude, speed in m/s and course in degrees."""
        points = self.points
        index = next((i for i in range(1, len(points)) if points[i][0] > at), len(points) - 1)
        one, two = points[index - 1], points[index]
        part = min(1, (at - one[0]) / (two[0] - one[0]))
        place = [one[i] + part * (two[i] - one[i]) for i in (1, 2, 3)]
        north, east = offset(one[1:3], two[1:3])
        speed = math.hypot(north, east) / (two[0] - one[0])
        return (*place, speed, math.degrees(math.atan2(east, north)) % 360)


def offset(one, two):
    """Returns how far the second place is to the north and to the east of the first, in meters."""
    meters = 6371008.8 * math.pi / 180
    middle = math.cos(math.radians((one[0] + two[0]) / 2))
    return (two[0] - one[0]) * meters, (two[1] - one[1]) * meters * middle


def distance(one, two):
    return math.hypot(*offset(one, two))


def sentence(text):
    """Returns a sentence of NMEA 0183, which ends with the exclusive or of its characters."""
    checksum = 0
    for character in text.encode():
        checksum ^= character
    return f"${text}*{checksum:02X}\r\n"


def degrees(value, digits, positive, negative):
    """Returns an angle as degrees and minutes, with the letter of its hemisphere."""
    whole, part = divmod(abs(value), 1)
    return f"{int(whole):0{digits}}{part * 60:08.5f},{positive if value >= 0 else negative}"


def epoch(position, is_moving):
    """Returns the sentences of one position, as a receiver with eight satellites sends them."""
    latitude, longitude, altitude, speed, course = position
    place = degrees(latitude, 2, "N", "S") + "," + degrees(longitude, 3, "E", "W")
    now = datetime.now(timezone.utc)
    at = f"{now:%H%M%S}.{now.microsecond // 1000:03}"
    knots = speed / 0.514444 if is_moving else 0
    return (
        sentence(f"GPGGA,{at},{place},1,08,0.9,{altitude:.1f},M,44.0,M,,")
        + sentence("GPGSA,A,3,02,05,07,13,15,20,28,30,,,,,1.6,0.9,1.3")
        + sentence(f"GPRMC,{at},A,{place},{knots:.2f},{course:.1f},{now:%d%m%y},,,A")
    ).encode()


def main(path, port, speed):
    track = Track(path)
    output = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    at, target, name = 0, 0, None
    while True:
        if target > at:
            at = min(target, at + speed * INTERVAL)
        output.sendto(epoch(track.position(at), target > at), ("127.0.0.1", port))
        if name is not None and at >= target:
            print(name, flush=True)
            name = None
        ready, _, _ = select.select([sys.stdin], [], [], INTERVAL)
        if ready:
            line = sys.stdin.readline()
            if not line:
                return
            name = line.strip()
            target = track.waypoints[name]


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
