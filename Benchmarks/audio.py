#!/usr/bin/env python3
"""Players in the background: how soon the daemon knows of a pause, how soon a suspended player
answers a command, and whether a player plays on without gaps beside busy processes.

The players are real clients of a real audio server, which has no sound device. `make bench-audio`
runs this file. See README.md beside it.
"""

import argparse
import json
import os
import platform
import signal
import sys
import time

from audio_session import MPV_NAME, SERVERS, Monitor, Session
from foreground import BUSY, NICE, SETTINGS as FOREGROUND_SETTINGS
from harness import Bench, Failure, percentiles, private_dirty, wait_until, wake_ups
from table import Table

PLAYER = "org.example.player"
# The target of the time by which the reply of a suspended player may be later, in ms.
COMMAND_TARGET = 10
WAKE_UPS_TARGET = 0
MEMORY_TARGET = 3000
UNDERRUNS_TARGET = 0
# A player that was resumed for a command may run for EventTime, also after a pause.
SETTINGS = '[policy]\nAudioGraceTime = "10ms"\nEventTime = "300ms"\n'
# The latency of the player whose gaps are counted, in ms.
LATENCY = 25
WAYS = ("alone", "nice", "taskschedd")
# The pause before each sample, in seconds. After it, the machine is idle, and the agent may again
# send four reports at once.
PAUSE = 0.1


class Scale:
    """The numbers of rounds and samples of each measurement."""

    def __init__(self, quick):
        self.pauses = 50 if quick else 300
        self.commands = 30 if quick else 200
        self.idle_seconds = 10 if quick else 60
        self.playback_rounds = 3 if quick else 5
        self.playback_seconds = 10 if quick else 60


def play(session, latency, prefix=()):
    """Starts a player that tells when it pauses, and how often it had gaps."""
    return session.converse(
        [*prefix, session.bench.program("playback"), "play", str(latency)])


def measure_pauses(session, samples):
    """Returns two lists of times from a pause in µs: until a subscriber of the server knows of it,
    and until the daemon does."""
    watcher = session.converse([session.bench.program("playback"), "watch"])
    player = play(session, 100)
    session.daemon.adopt(PLAYER, player.process.pid, backgroundModes=["audio"])
    session.wait_until_plays(PLAYER)
    monitor = Monitor(session.daemon, PLAYER)
    subscriber, daemon = [], []
    for _ in range(samples + samples // 10):
        time.sleep(PAUSE)
        paused = player.ask("pause")
        subscriber.append((watcher.number_from(paused) - paused) / 1000)
        daemon.append((monitor.change_from(paused, "audioChanged") - paused) / 1000)
        player.ask("continue")
        session.wait_until_plays(PLAYER)
    monitor.close()
    for process in (player.process, watcher.process):
        session.end_process(process)
    # The first samples warm up the machine.
    return subscriber[samples // 10:], daemon[samples // 10:]


def measure_commands(session, samples):
    """Returns two lists of times from the command to play until mpv's reply in µs: of a paused mpv
    that runs, and of a suspended one."""
    client = session.converse([session.bench.program("media-command"), session.bus, MPV_NAME])
    running, suspended = [], []
    for _ in range(samples + samples // 10):
        client.ask("Pause")
        session.wait_until_plays(PLAYER, False)
        time.sleep(PAUSE)
        running.append(client.ask("PlayPause") / 1000)
        session.wait_until_plays(PLAYER)
        client.ask("Pause")
        session.wait_until_plays(PLAYER, False)
        session.daemon.call("SendToBackground", {"application": PLAYER})
        session.wait_until_suspended(PLAYER)
        time.sleep(PAUSE)
        suspended.append(client.ask("PlayPause") / 1000)
        session.wait_until_plays(PLAYER)
        session.daemon.call("Activate", {"application": PLAYER})
    session.end_process(client.process)
    return running[samples // 10:], suspended[samples // 10:]


def wake_ups_within(pid, seconds):
    before = wake_ups(pid)
    time.sleep(seconds)
    return wake_ups(pid) - before


def measure_agent(session, seconds):
    """Returns how often the agent wakes up while mpv plays in the foreground, and while it plays in
    the background, and the agent's private dirty memory in kB."""
    agent = session.agent.pid
    wait_until(lambda: wake_ups_within(agent, 1) == 0, "a second without a wake-up", 30)
    foreground = wake_ups_within(agent, seconds)
    session.daemon.call("SendToBackground", {"application": PLAYER})
    time.sleep(1)
    background = wake_ups_within(agent, seconds)
    session.daemon.call("Activate", {"application": PLAYER})
    return foreground, background, private_dirty(agent)


def count_underruns(session, way, seconds):
    """Returns how often a player had a gap. The way "alone" has no busy processes. With "nice",
    nice(1) lowers the priorities of the player and of the busy processes. With "taskschedd", all
    are applications in the background."""
    bench, daemon = session.bench, session.daemon
    prefix = ["nice", "-n", str(NICE)] if way == "nice" else []
    busy = [] if way != "nice" else [
        bench.start([*prefix, bench.program("lateness"), "spin"]) for _ in range(BUSY)]
    player = play(session, LATENCY, prefix)
    if way == "taskschedd":
        daemon.adopt(PLAYER, player.process.pid, backgroundModes=["audio"])
        session.wait_until_plays(PLAYER)
        daemon.call("SendToBackground", {"application": PLAYER})
        for index in range(BUSY):
            daemon.call("Launch", {"application": f"org.bench.busy{index}", "background": True})
    # The gaps while the processes start do not count.
    time.sleep(1)
    before = player.ask("underruns")
    time.sleep(seconds)
    count = player.ask("underruns") - before
    if way == "taskschedd":
        if daemon.application(PLAYER)["state"] != "background":
            raise Failure("the player did not remain in the background")
        for index in range(BUSY):
            daemon.call("Terminate", {"application": f"org.bench.busy{index}"})
    session.end_process(player.process)
    for process in busy:
        bench.end(process)
    return count


def measure_playback(bench, server, agent, rounds, seconds):
    """Returns the sum of the gaps of all rounds, in which the ways take turns."""
    program = bench.program("lateness")
    session = Session(
        bench, "playback", server, agent, FOREGROUND_SETTINGS,
        [(f"org.bench.busy{index}", f'command = ["{program}", "spin"]')
         for index in range(BUSY)])
    counts = {way: 0 for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            counts[way] += count_underruns(session, way, seconds)
    session.end()
    return counts


def measure(bench, server, agent, scale, progress):
    results = {}
    session = Session(bench, "session", server, agent, SETTINGS)
    progress(f"{scale.pauses} pauses")
    results["pause µs"] = dict(zip(
        ("subscriber", "daemon"), map(percentiles, measure_pauses(session, scale.pauses))))
    mpv = session.start_mpv()
    session.daemon.adopt(PLAYER, mpv.pid, backgroundModes=["audio"])
    session.wait_until_plays(PLAYER)
    progress(f"{scale.commands} commands")
    results["command µs"] = dict(zip(
        ("running", "suspended"), map(percentiles, measure_commands(session, scale.commands))))
    progress(f"the agent for {scale.idle_seconds} s")
    results["idle seconds"] = scale.idle_seconds
    foreground, background, dirty = measure_agent(session, scale.idle_seconds)
    results["wake-ups"] = {"foreground": foreground, "background": background}
    results["private dirty kB"] = dirty
    session.end()
    seconds = scale.playback_rounds * scale.playback_seconds
    progress(f"gaps for {seconds} s in {len(WAYS)} configurations")
    # The busy processes and the player share two CPUs, as in bench-foreground.
    os.sched_setaffinity(0, sorted(scale.available)[:2])
    results["playback seconds"] = seconds
    results["underruns"] = measure_playback(
        bench, server, agent, scale.playback_rounds, scale.playback_seconds)
    return results


def table_of(results):
    def milliseconds(times):
        return "{:.2f}, {:.2f} ms".format(*(time / 1000 for time in times))

    table = Table()
    table.section("From the pause of a player: p50, p99")
    pauses = results["pause µs"]
    table.figure("a subscriber of the server knows", milliseconds(pauses["subscriber"]))
    table.figure("the daemon knows", milliseconds(pauses["daemon"]))
    table.section("From a command to the reply of the player: p50, p99")
    commands = results["command µs"]
    table.figure("running", milliseconds(commands["running"]))
    table.figure("suspended", milliseconds(commands["suspended"]))
    for name, running, suspended in zip(("p50", "p99"), *commands.values()):
        table.judged(
            f"{name} above the running player", (suspended - running) / 1000, COMMAND_TARGET, " ms")
    seconds = results["idle seconds"]
    table.section("The session agent while a player plays")
    table.judged(
        f"wake-ups in {seconds} s, player in the foreground", results["wake-ups"]["foreground"],
        WAKE_UPS_TARGET, "")
    table.figure(
        f"wake-ups in {seconds} s, player in the background",
        str(results["wake-ups"]["background"]))
    table.judged("private dirty memory", results["private dirty kB"], MEMORY_TARGET, " kB")
    table.section(
        f"Gaps of a player with {LATENCY} ms of latency, in {results['playback seconds']} s")
    table.figure("without busy processes", str(results["underruns"]["alone"]))
    table.figure(f"{BUSY} busy, nice -n {NICE} alone", str(results["underruns"]["nice"]))
    table.judged(
        f"{BUSY} busy, with taskschedd", results["underruns"]["taskschedd"], UNDERRUNS_TARGET, "")
    return table


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--daemon", required=True, help="the path of taskschedd, a release build")
    parser.add_argument("--agent", required=True, help="the path of taskschedd-session")
    parser.add_argument("--programs", required=True, help="the directory of the built C programs")
    parser.add_argument("--server", choices=SERVERS, default=SERVERS[0], help="the audio server")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: about 3 minutes")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    return parser.parse_args()


def main():
    arguments = parse()
    # After SIGTERM or SIGHUP, the program cleans up like at any other end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
    scale = Scale(arguments.quick)
    scale.available = os.sched_getaffinity(0)
    own = max(scale.available)
    os.sched_setaffinity(0, {own})

    def progress(what):
        print(f"measuring {what} …", file=sys.stderr, flush=True)

    started = time.monotonic()
    load = os.getloadavg()[0]
    programs, daemon, agent = map(
        os.path.abspath, (arguments.programs, arguments.daemon, arguments.agent))
    try:
        with Bench(programs, daemon) as bench:
            results = measure(bench, arguments.server, agent, scale, progress)
    except Failure as failure:
        sys.exit(f"bench-audio: {failure}")
    if arguments.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
        return
    print(
        f"Linux {platform.release()}, {arguments.server}, all on CPU {own} except the gaps, "
        f"load {load:.1f} before, {time.monotonic() - started:.0f} s")
    print(table_of(results))


if __name__ == "__main__":
    main()
