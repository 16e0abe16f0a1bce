"""The round trip of BeginBackgroundTask, compared with an echo server and with D-Bus."""

import subprocess

from harness import BUS_CONFIGURATION, Failure, median

# The reply of the echo server, which is exactly the daemon's reply.
REPLY = '{"parameters":{"task":1000}}'


def start_peers(bench):
    """Starts an echo server, and a D-Bus service on a separate bus."""
    echo = bench.path("echo.socket")
    process = bench.start([bench.program("echo-server"), echo, REPLY])
    bench.wait_for_socket(process, echo)
    bus = bench.path("bus.socket")
    configuration = bench.write("bus.conf", BUS_CONFIGURATION.format(path=bus))
    with open(bench.path("bus.log"), "w", encoding="utf-8") as log:
        process = bench.start(
            ["dbus-daemon", "--nofork", f"--config-file={configuration}"], stderr=log)
    bench.wait_for_socket(process, bus)
    service = bench.start(
        [bench.program("dbus-service"), f"unix:path={bus}"], stdout=subprocess.PIPE)
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


def measure(bench, rounds, calls):
    """Returns (p50, p99) in µs by peer. The peers take turns."""
    daemon = bench.daemon("round-trip")
    echo, bus = start_peers(bench)
    lines = bench.run(
        [bench.program("round-trip"), str(rounds + 1), str(calls), daemon.socket, echo, bus],
        seconds=120)
    bench.end(daemon.process)
    return by_peer(lines)


def measure_alone(bench, rounds, calls):
    """Returns the p50 of the daemon and the p50 of the echo server in µs. Each run of the program
    measures only one of them."""
    daemon = bench.daemon("round-trip-alone")
    echo = bench.path("echo-alone.socket")
    server = bench.start([bench.program("echo-server"), echo, REPLY])
    bench.wait_for_socket(server, echo)
    peers = {"daemon": [daemon.socket], "echo": ["-", echo]}
    times = {peer: [] for peer in peers}
    for _ in range(rounds):
        for peer, sockets in peers.items():
            lines = bench.run(
                [bench.program("round-trip"), "2", str(calls), *sockets], seconds=120)
            times[peer].append(by_peer(lines)[peer][0])
    bench.end(server)
    bench.end(daemon.process)
    return median(times["daemon"]), median(times["echo"])


def measure_event_log(bench, rounds, calls):
    """Returns two p50 in µs: of a daemon without an event log, and of one with an event log.
    The two daemons take turns."""
    daemons = [
        bench.daemon("without-event-log", event_log=False), bench.daemon("with-event-log")]
    times = [[], []]
    for _ in range(rounds):
        for daemon, own in zip(daemons, times):
            lines = bench.run(
                [bench.program("round-trip"), "2", str(calls), daemon.socket], seconds=120)
            own.append(by_peer(lines)["daemon"][0])
    for daemon in daemons:
        bench.end(daemon.process)
    return tuple(median(own) for own in times)


def measure_logging(bench, rounds, calls):
    """Returns (p50, p99) in µs of a daemon that logs every granted task to a file."""
    daemon = bench.daemon("logging", log_level="info")
    lines = bench.run(
        [bench.program("round-trip"), str(rounds + 1), str(calls), daemon.socket],
        seconds=120)
    bench.end(daemon.process)
    return by_peer(lines)["daemon"]
