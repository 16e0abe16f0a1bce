"""The time from sending a byte until the application at the other end receives it."""

import os
import subprocess

from harness import Failure, median, wait_until

APPLICATION = "org.example.socket-wake"


def start_peer(bench, samples, peer_cpus, *resting):
    """Starts the sending peer on separate CPUs. Returns its process and the port of its socket."""
    peer = bench.start(
        [bench.program("socket-wake"), "peer", str(samples), *resting],
        stdout=subprocess.PIPE, text=True,
        prepare=lambda: os.sched_setaffinity(0, peer_cpus))
    words = peer.stdout.readline().split()
    if words[:1] != ["port"]:
        raise Failure("the peer of the socket did not start")
    return peer, words[1]


def times(bench, peer):
    """Waits until the peer has taken all samples. Returns (p50, p99) in µs."""
    words = peer.stdout.readline().split()
    bench.end(peer)
    if len(words) != 2:
        raise Failure("the wake-ups by a socket could not be timed: see above")
    return tuple(int(word) / 1000 for word in words)


def once_plain(bench, samples, peer_cpus):
    peer, port = start_peer(bench, samples, peer_cpus, "S")
    plain = bench.start([bench.program("socket-wake"), "plain", port])
    result = times(bench, peer)
    bench.end(plain)
    return result


def once_managed(bench, daemon, samples, peer_cpus):
    # The peer sends a byte when the process is stopped and the daemon has reported the suspension.
    peer, port = start_peer(bench, samples, peer_cpus, "T", daemon.socket)
    application = bench.start(
        [bench.program("socket-wake"), "managed", port, daemon.socket, APPLICATION])
    result = times(bench, peer)
    bench.end(application)

    def has_ended():
        shown = daemon.call("GetApplication", {"application": APPLICATION})
        return shown["application"]["state"] == "notRunning"

    wait_until(has_ended, "the end of the application")
    return result


def measure(bench, rounds, samples, peer_cpus):
    """Returns two medians of (p50, p99) in µs: "plain" of a process that waits in epoll_wait, which
    is the lower bound, and "managed" of a suspended application that the daemon resumes."""
    daemon = bench.daemon(
        "socket-wake", settings='suspend-mechanism = "signal"\n',
        manifests=[(APPLICATION, 'background-modes = ["voip"]\n')])
    plain, managed = [], []
    for _ in range(rounds + 1):
        plain.append(once_plain(bench, samples, peer_cpus))
        # Fewer samples: after each, the daemon suspends the application again, which takes long,
        # because the daemon scans all processes of the machine.
        managed.append(once_managed(bench, daemon, samples // 5, peer_cpus))
    bench.end(daemon.process)
    return {
        name: tuple(median(column) for column in zip(*values[1:]))
        for name, values in (("plain", plain), ("managed", managed))
    }
