"""How late a periodic foreground process wakes while background processes are busy.

The measurement has four configurations, which take turns: without the busy processes; with busy
processes of normal priority; with busy processes under nice(1); and with taskschedd, which launches
all programs and has the busy ones in the background. Each process leads a session, like a process
that a desktop or systemd starts.
"""

import argparse
import os
import sys

import harness

BUSY = 8
NICE = 15
WAYS = ("alone", "neither", "nice", "taskschedd")
# The CPU time in each millisecond, in µs: that of a music player, and that of a game.
WORKS = (50, 500)
SETTINGS = """launch-mechanism = "child"
[policy]
LaunchTime = "1h"
BackgroundProcessorShare = 100000
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return [float(word) for word in file.read().split()]


def by_hand(bench, way, seconds, work):
    program = bench.program("lateness")
    prefix = ["nice", "-n", str(NICE)] if way == "nice" else []
    busy = [] if way == "alone" else [
        bench.start([*prefix, program, "spin"]) for _ in range(BUSY)]
    path = bench.path("lateness.txt")
    bench.run([program, "periodic", str(seconds), str(work), path], seconds * 10 + 60)
    for process in busy:
        bench.end(process)
    return read(path)


def by_daemon(bench, number, seconds, work):
    program = bench.program("lateness")
    path = bench.path(f"lateness.{number}.{work}.txt")
    manifests = [(f"org.bench.busy{index}", f'command = ["{program}", "spin"]')
                 for index in range(BUSY)]
    manifests.append(
        ("org.bench.player",
         f'command = ["{program}", "periodic", "{seconds}", "{work}", "{path}"]'))
    daemon = bench.daemon(f"daemon{number}-{work}", SETTINGS, manifests)
    for index in range(BUSY):
        daemon.call("Launch", {"application": f"org.bench.busy{index}", "background": True})
    daemon.call("Launch", {"application": "org.bench.player"})
    harness.wait_until(
        lambda: os.path.exists(path) and len(read(path)) == 3, "the foreground's figures",
        seconds * 10 + 60)
    for index in range(BUSY):
        daemon.call("Terminate", {"application": f"org.bench.busy{index}"})
    bench.end(daemon.process)
    return read(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = {(work, way): [] for work in WORKS for way in WAYS}
    # Manifests name programs by absolute paths.
    programs = os.path.abspath(options.programs)
    with harness.Bench(programs, options.daemon) as bench:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
        for number in range(options.rounds):
            for work, way in found:
                found[work, way].append(
                    by_daemon(bench, number, options.seconds, work) if way == "taskschedd"
                    else by_hand(bench, way, options.seconds, work))
    print(f"lateness of a 1 ms period beside {BUSY} busy processes on "
          f"{len(os.sched_getaffinity(0))} CPUs, medians of {options.rounds} rounds, in µs")
    print(f"{'':28}{'p50':>10}{'p99':>10}{'max':>10}")
    names = {"alone": "without busy processes", "neither": "busy, without taskschedd",
             "nice": f"busy, nice -n {NICE} alone", "taskschedd": "busy, with taskschedd"}
    for work in WORKS:
        print(f"{work} µs of work in each ms")
        for way in WAYS:
            figures = [harness.median(column) for column in zip(*found[work, way])]
            print(f"  {names[way]:26}" + "".join(f"{figure:10.0f}" for figure in figures))


if __name__ == "__main__":
    try:
        main()
    except harness.Failure as failure:
        sys.exit(f"bench-foreground: {failure}")
