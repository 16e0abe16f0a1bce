#!/usr/bin/env python3
"""A player in the background that ends one stream and begins another each second, as a player does
between tracks: whether it is ever suspended, and whether the daemon or the agent grows.

`make bench-tracks` runs this file. See README.md beside it.
"""

import argparse
import os
import signal
import subprocess
import sys
import time

from audio_session import SERVERS, Monitor, Session
from harness import Bench, Failure, private_dirty
from table import Table

PLAYER = "org.example.player"
PLAYS = 'while :; do timeout {} pacat --raw /dev/zero; done'
# The target of the growth of each program's memory from the first minute to the end, in kB.
GROWTH_TARGET = 1000
WARM_UP = 60
EVENT_SECONDS = 60


def measure(bench, server, agent, minutes, progress):
    session = Session(bench, "session", server, agent)
    player = session.start(["sh", "-c", PLAYS.format(1)])
    session.daemon.adopt(PLAYER, player.pid, backgroundModes=["audio"])
    session.wait_until_plays(PLAYER)
    monitor = Monitor(session.daemon, PLAYER)
    session.daemon.call("SendToBackground", {"application": PLAYER})
    programs = {"daemon": session.daemon.process.pid, "agent": session.agent.pid}
    time.sleep(WARM_UP)
    before = {name: private_dirty(pid) for name, pid in programs.items()}
    suspended, tracks = 0, 0
    end = time.monotonic() + minutes * 60
    announced = 0
    while time.monotonic() < end:
        change = monitor.next().get("change", {})
        if change.get("to") == "suspended":
            suspended += 1
        if change.get("kind") == "audioChanged":
            tracks += 1
        if time.monotonic() - announced > EVENT_SECONDS:
            announced = time.monotonic()
            progress(f"{tracks} changes, {(end - announced) / 60:.0f} min left")
    after = {name: private_dirty(pid) for name, pid in programs.items()}
    monitor.close()
    return {"changes": tracks, "suspended": suspended, "before": before, "after": after}


def table_of(results, minutes):
    table = Table()
    table.section(f"A player that begins a stream each second, in the background, {minutes} min")
    table.figure("changes that the daemon heard of", str(results["changes"]))
    table.judged("suspensions", results["suspended"], 0, "")
    for name, before in results["before"].items():
        after = results["after"][name]
        table.figure(f"private dirty memory of the {name}", f"{before}, {after} kB")
        table.judged("  growth", after - before, GROWTH_TARGET, " kB")
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--daemon", required=True, help="the path of taskschedd, a release build")
    parser.add_argument("--agent", required=True, help="the path of taskschedd-session")
    parser.add_argument("--server", choices=SERVERS, default=SERVERS[0], help="the audio server")
    parser.add_argument("--minutes", type=int, default=60, help="the length of the run")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))

    def progress(what):
        print(what, file=sys.stderr, flush=True)

    try:
        with Bench("", os.path.abspath(arguments.daemon)) as bench:
            results = measure(
                bench, arguments.server, os.path.abspath(arguments.agent), arguments.minutes,
                progress)
    except (Failure, subprocess.SubprocessError) as failure:
        sys.exit(f"bench-tracks: {failure}")
    print(table_of(results, arguments.minutes))


if __name__ == "__main__":
    main()
