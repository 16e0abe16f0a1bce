"""From a byte's departure to the application at the other end of the connection."""

import os
import subprocess

from harness import Failure, median


def start_peer(workshop, samples, state, peer_cpus):
    """The one that sends, on CPUs of its own, and the port at which it waits."""
    peer = workshop.start(
        [workshop.program("socket-wake"), "peer", str(samples), state],
        stdout=subprocess.PIPE, text=True,
        prepare=lambda: os.sched_setaffinity(0, peer_cpus))
    words = peer.stdout.readline().split()
    if words[:1] != ["port"]:
        raise Failure("the peer of the socket did not start")
    return peer, words[1]


def times(workshop, peer):
    """(p50, p99) in µs, once all samples are taken."""
    words = peer.stdout.readline().split()
    workshop.end(peer)
    if len(words) != 2:
        raise Failure("the wake-ups by a socket could not be timed: see above")
    return tuple(int(word) / 1000 for word in words)


def once_plain(workshop, samples, peer_cpus):
    peer, port = start_peer(workshop, samples, "S", peer_cpus)
    plain = workshop.start([workshop.program("socket-wake"), "plain", port])
    result = times(workshop, peer)
    workshop.end(plain)
    return result


def measure(workshop, rounds, samples, peer_cpus):
    """Medians of (p50, p99) in µs of a running process in epoll_wait: what nobody can beat."""
    plain = [once_plain(workshop, samples, peer_cpus) for _ in range(rounds + 1)]
    return {"plain": tuple(median(column) for column in zip(*plain[1:]))}
