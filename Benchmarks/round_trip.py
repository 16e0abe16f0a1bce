"""The round trip of BeginBackgroundTask, compared with an echo server and with D-Bus."""

import subprocess

from harness import BUS_CONFIGURATION, Failure, median

# The reply of the echo server, which is exactly the daemon's reply.
REPLY = '{"parameters":{"task":1000}}'


def start_peers(workshop):
    """Starts an echo server, and a D-Bus service on a separate bus."""
    echo = workshop.path("echo.socket")
    process = workshop.start([workshop.program("echo-server"), echo, REPLY])
    workshop.wait_for_socket(process, echo)
    bus = workshop.path("bus.socket")
    configuration = workshop.write("bus.conf", BUS_CONFIGURATION.format(path=bus))
    with open(workshop.path("bus.log"), "w", encoding="utf-8") as log:
        process = workshop.start(
            ["dbus-daemon", "--nofork", f"--config-file={configuration}"], stderr=log)
    workshop.wait_for_socket(process, bus)
    service = workshop.start(
        [workshop.program("dbus-service"), f"unix:path={bus}"], stdout=subprocess.PIPE)
    if service.stdout.readline() != b"ready\n":
        raise Failure("the D-Bus service did not start")
    return echo, f"unix:path={bus}"


def by_peer(lines):
    """Returns (p50, p99) in µs by peer: the medians of all rounds except the first, a warm-up."""
    rounds = {}
    for peer, middle, high in lines:
        rounds.setdefault(peer, []).append((int(middle) / 1000, int(high) / 1000))
    return {
        peer: tuple(median(column) for column in zip(*values[1:]))
        for peer, values in rounds.items()
    }


def measure(workshop, rounds, calls):
    """Returns (p50, p99) in µs by peer. The peers take turns."""
    daemon = workshop.daemon("round-trip")
    echo, bus = start_peers(workshop)
    lines = workshop.run(
        [workshop.program("round-trip"), str(rounds + 1), str(calls), daemon.socket, echo, bus],
        seconds=120)
    workshop.end(daemon.process)
    return by_peer(lines)


def measure_alone(workshop, rounds, calls):
    """Returns the p50 of the daemon and the p50 of the echo server in µs. They take no turns."""
    daemon = workshop.daemon("round-trip-alone")
    echo = workshop.path("echo-alone.socket")
    server = workshop.start([workshop.program("echo-server"), echo, REPLY])
    workshop.wait_for_socket(server, echo)
    peers = {"daemon": [daemon.socket], "echo": ["-", echo]}
    times = {peer: [] for peer in peers}
    for _ in range(rounds):
        for peer, sockets in peers.items():
            lines = workshop.run(
                [workshop.program("round-trip"), "2", str(calls), *sockets], seconds=120)
            times[peer].append(by_peer(lines)[peer][0])
    workshop.end(server)
    workshop.end(daemon.process)
    return median(times["daemon"]), median(times["echo"])


def measure_event_log(workshop, rounds, calls):
    """Returns two p50 in µs: of a daemon without an event log, and of one with an event log.
    The two daemons take turns."""
    daemons = [
        workshop.daemon("without-event-log", event_log=False), workshop.daemon("with-event-log")]
    times = [[], []]
    for _ in range(rounds):
        for daemon, own in zip(daemons, times):
            lines = workshop.run(
                [workshop.program("round-trip"), "2", str(calls), daemon.socket], seconds=120)
            own.append(by_peer(lines)["daemon"][0])
    for daemon in daemons:
        workshop.end(daemon.process)
    return tuple(median(own) for own in times)


def measure_logging(workshop, rounds, calls):
    """Returns (p50, p99) in µs of a daemon that logs every granted task to a file."""
    daemon = workshop.daemon("logging", log_level="info")
    lines = workshop.run(
        [workshop.program("round-trip"), str(rounds + 1), str(calls), daemon.socket],
        seconds=120)
    workshop.end(daemon.process)
    return by_peer(lines)["daemon"]
