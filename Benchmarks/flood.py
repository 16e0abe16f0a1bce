"""The round trip of one user while another user floods the daemon, compared with a quiet daemon."""

import os
import subprocess

from harness import Failure, median
from round_trip import by_peer

FLOODER = 65534
FLOODS = {
    "100 connections, a call at a time": ("calls", 100, 1),
    "100 connections, 50 calls ahead": ("calls", 100, 50),
    "connecting and closing": ("storm",),
}


def own_round_trip(bench, daemon, calls, watching):
    """Returns (p50, p99) in µs of one client. The client has precedence over other clients, so that
    it never waits for a CPU."""
    def prepare():
        os.sched_setaffinity(0, watching)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    lines = bench.run(
        [bench.program("round-trip"), "2", str(calls), daemon.socket], seconds=120,
        prepare=prepare)
    return by_peer(lines)["daemon"]


def start_flood(bench, daemon, kind, *numbers, watching):
    process = bench.start(
        [bench.program("flood"), kind, daemon.socket, str(FLOODER), *map(str, numbers)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        prepare=lambda: os.sched_setaffinity(0, watching))
    if not process.stdout.readline().startswith(b"floods"):
        raise Failure("the flood did not start")
    return process


def served(process):
    """Returns how many calls or connections of a flood the daemon has served so far."""
    process.stdin.write(b"\n")
    process.stdin.flush()
    words = process.stdout.readline().split()
    if len(words) != 2:
        raise Failure("the flood has ended")
    return int(words[1])


def measure(bench, rounds, calls, watching):
    """Returns a reason if no measurement is possible. Otherwise, returns three values for each
    flood: (p50, p99) in µs of a quiet daemon, (p50, p99) in µs during the flood, and the number of
    the flood's calls or connections that the daemon served. Quiet and flooded rounds take turns."""
    if os.geteuid() != 0:
        return "only root can run processes of two users"
    daemon = bench.daemon("flood")
    # The other user must be able to reach the socket in the benchmark's directory.
    os.chmod(bench.directory, 0o755)
    results = {}
    for name, (kind, *numbers) in FLOODS.items():
        quiet, flooded, count = [], [], 0
        for _ in range(rounds):
            quiet.append(own_round_trip(bench, daemon, calls, watching))
            process = start_flood(bench, daemon, kind, *numbers, watching=watching)
            before = served(process)
            flooded.append(own_round_trip(bench, daemon, calls, watching))
            count += served(process) - before
            bench.end(process)
        results[name] = tuple(
            tuple(median(column) for column in zip(*times)) for times in (quiet, flooded)
        ) + (count,)
    bench.end(daemon.process)
    return results
