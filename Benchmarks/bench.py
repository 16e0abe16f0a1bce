#!/usr/bin/env python3
"""Measures the daemon against its targets. See README.md beside this file; `make bench` runs it."""

import argparse
import json
import os
import platform
import signal
import sys
import time

import attacks
import crowd
import descriptors
import flood
import memory_choice
import round_trip
import socket_wake
import stop_time
from harness import Failure, Bench
from table import Table

IDLE_APPLICATIONS = 100
# The targets. README.md gives their sources.
ECHO_ALONE_TARGET = 1.8
ECHO_TURNS_TARGET = 2.2
DBUS_TARGET = 0.5
EVENT_LOG_TARGET = 1.15
FLAT_TARGET = 1.1
KILOBYTES_TARGET = 5
RESIDENT_TARGET = 16000
WAKE_UPS_TARGET = 0
SOCKET_WAKE_TARGET = 1.5
FLOOD_TARGET = 2
CHOICE_TARGET = 100
# Targets while another user attacks. Times are in ms.
ATTACKED_CALL_TARGET = 20
ATTACKED_LIMIT_TARGET = 20
ATTACKED_CONNECTION_TARGET = 50
LONG_CALL_TARGET = 5
SHRINK_TARGET = 1.5
OTHERS_CALL_TARGET = 20
OTHERS_CONNECTION_TARGET = 50
OTHERS_LIMIT_TARGET = 20


class Scale:
    """The numbers of rounds and samples of each measurement."""

    def __init__(self, quick):
        self.round_trips = (5, 2000) if quick else (15, 4000)
        self.stop_rounds = 5 if quick else 15
        self.socket_wakes = (2, 200) if quick else (5, 1000)
        self.registrations = (3, 300) if quick else (7, 500)
        self.crowd_rounds = (3, 2000) if quick else (9, 4000)
        self.flood_rounds = (2, 2000) if quick else (5, 4000)
        self.choices = 5 if quick else 25
        self.examinations = 1 if quick else 4
        self.idle_seconds = 10 if quick else 60


def cpus():
    """Returns the CPU that all measured processes share, and the CPUs of the observers."""
    available = os.sched_getaffinity(0)
    own = max(available)
    return own, (available - {own}) or {own}


def measure(bench, scale, watching, progress):
    results = {}
    progress("round trips")
    results["round trip µs"] = round_trip.measure(bench, *scale.round_trips)
    results["round trip alone µs"] = round_trip.measure_alone(bench, *scale.round_trips)
    results["round trip without, with event log µs"] = round_trip.measure_event_log(
        bench, *scale.round_trips)
    results["round trip logged µs"] = round_trip.measure_logging(bench, *scale.round_trips)
    for mechanism in ("signal", "freezer"):
        progress(f"time to stop, by {mechanism}")
        results[f"stop by {mechanism} µs"] = stop_time.measure(
            bench, mechanism, scale.stop_rounds, watching)
    progress("wake-ups by a socket")
    results["socket wake µs"] = socket_wake.measure(bench, *scale.socket_wakes, watching)
    progress("registrations")
    results["registrations per second"] = crowd.registrations(bench, *scale.registrations)
    progress("round trips during floods")
    results["round trip flooded µs"] = flood.measure(bench, *scale.flood_rounds, watching)
    progress("attacks")
    results["attacks"] = attacks.measure(bench, watching)
    progress("another user while descriptors are examined")
    results["others while descriptors are examined ms"] = descriptors.measure(
        bench, rounds=scale.examinations)
    progress("another user beside an application of many processes")
    results["others beside many processes ms"] = descriptors.measure(
        bench, descriptors.FEWER_SOCKETS, descriptors.MANY_CHILDREN, name="processes",
        rounds=scale.examinations)
    progress("memory and cost with up to 5,000 applications")
    (results["resident kB"], results["private and dirty kB"],
     results["round trip among µs"]) = crowd.memory_and_cost(bench, *scale.crowd_rounds)
    progress("a choice for memory")
    results["memory choice ms"] = memory_choice.measure(bench, scale.choices)
    progress(f"idle for {scale.idle_seconds} s")
    results["idle seconds"] = scale.idle_seconds
    results["idle wake-ups"] = crowd.idle_wake_ups(
        bench, IDLE_APPLICATIONS, scale.idle_seconds)
    return results


def add_round_trips(table, results):
    table.section("Round trip of BeginBackgroundTask: p50, p99")
    times = results["round trip µs"]
    names = {"daemon": "taskschedd", "echo": "C epoll echo", "dbus": "sd-bus by dbus-daemon"}
    for peer, name in names.items():
        table.figure(name, "{:.1f}, {:.1f} µs".format(*times[peer]))
    table.figure(
        "taskschedd, log level info",
        "{:.1f}, {:.1f} µs".format(*results["round trip logged µs"]))
    own = times["daemon"][0]
    alone, echo_alone = results["round trip alone µs"]
    table.figure("p50 alone: taskschedd, echo", f"{alone:.1f}, {echo_alone:.1f} µs")
    table.judged("p50 relative to the echo, alone", alone / echo_alone, ECHO_ALONE_TARGET, " ×")
    table.judged(
        "p50 relative to the echo, in turns", own / times["echo"][0], ECHO_TURNS_TARGET, " ×")
    table.judged("p50 relative to D-Bus", own / times["dbus"][0], DBUS_TARGET, " ×")
    without, logged = results["round trip without, with event log µs"]
    table.figure("p50 without, with the event log", f"{without:.1f}, {logged:.1f} µs")
    table.judged("with relative to without", logged / without, EVENT_LOG_TARGET, " ×")


def add_stop_times(table, results):
    table.section("From the end of the last task: all stopped, reported as suspended")
    for mechanism in ("signal", "freezer"):
        times = results[f"stop by {mechanism} µs"]
        if isinstance(times, str):
            table.missing(f"by {mechanism}", times)
            continue
        for count, (stopped, reported) in times.items():
            table.figure(
                f"by {mechanism}, {count} process{'es' if count > 1 else ''}",
                f"{stopped / 1000:.2f}, {reported / 1000:.2f} ms")


def add_socket_wakes(table, results):
    table.section("From sending a byte to its receipt: p50, p99")
    times = results["socket wake µs"]
    table.figure("running, in epoll_wait", "{:.1f}, {:.1f} µs".format(*times["plain"]))
    table.figure("suspended, resumed by the byte", "{:.1f}, {:.1f} µs".format(*times["managed"]))
    table.judged(
        "p50 above the running process", (times["managed"][0] - times["plain"][0]) / 1000,
        SOCKET_WAKE_TARGET, " ms")


def add_floods(table, results):
    table.section("Round trip while another user floods: p50, p99")
    floods = results["round trip flooded µs"]
    if isinstance(floods, str):
        return table.missing("floods", floods)
    for name, (quiet, flooded, served) in floods.items():
        table.figure(name, "{:.1f}, {:.1f} µs".format(*flooded))
        table.figure("  quiet", "{:.1f}, {:.1f} µs".format(*quiet))
        table.figure("  calls of the flood served", f"{served}")
        table.judged("  p50 relative to quiet", flooded[0] / quiet[0], FLOOD_TARGET, " ×")


def add_attacks(table, results):
    table.section("While another user attacks, and from 0.1 s after: p99, most")
    measured = results["attacks"]
    if isinstance(measured, str):
        return table.missing("attacks", measured)
    for name, waits in measured.items():
        table.judged(f"{name}: call", waits["call"][0], ATTACKED_CALL_TARGET, " ms")
        table.judged(
            "  new connection, most", waits["connection"][1], ATTACKED_CONNECTION_TARGET, " ms")
        table.judged("  delay of the limit, most", waits["limit"][1], ATTACKED_LIMIT_TARGET, " ms")
        before, most, after = waits["resident"]
        table.figure("  resident before, at its end", f"{before}, {most} kB")
        table.judged("  resident after, relative to before", after / before, SHRINK_TARGET, " ×")
        if "milliseconds" in waits["told"]:
            table.judged(
                "  one such call", waits["told"]["milliseconds"], LONG_CALL_TARGET, " ms")


def add_descriptors(table, results):
    add_examination(
        table, results["others while descriptors are examined ms"], descriptors.SOCKETS,
        descriptors.CHILDREN)
    add_examination(
        table, results["others beside many processes ms"], descriptors.FEWER_SOCKETS,
        descriptors.MANY_CHILDREN)


def add_examination(table, found, sockets, children):
    table.section(
        f"Another user, while {sockets} sockets in {children + 1} processes are examined")
    if isinstance(found, str):
        return table.missing("examination", found)
    table.figure("calls, time to suspension", "{calls}, {suspension:.0f} ms".format(**found))
    table.judged("call p99", found["call p99"], OTHERS_CALL_TARGET, " ms")
    table.figure("call, most", f"{found['call most']:.1f} ms")
    table.judged("new connection, most", found["connection most"], OTHERS_CONNECTION_TARGET, " ms")
    table.figure("delay of a kill without the daemon, most", f"{found['limit floor']:.1f} ms")
    table.judged(
        "delay of the limit above it, most", found["limit most"] - found["limit floor"],
        OTHERS_LIMIT_TARGET, " ms")


def add_crowd(table, results):
    table.section("Many applications")
    table.figure("registrations", f"{results['registrations per second']:.0f} per second")
    memory = results["private and dirty kB"]
    for size, (private, dirty) in memory.items():
        table.figure(
            f"private memory with {size or 'none'}, dirty", f"{private}, {dirty} kB")
        if size > 0:
            table.judged(
                "  private for each", (private - memory[0][0]) / size, KILOBYTES_TARGET, " kB")
    cost = results["round trip among µs"]
    small, large = crowd.SMALL, crowd.SIZES[-1]
    for size in (small, large):
        table.figure(f"round trip p50 among {size}", f"{cost[size]:.1f} µs")
    table.judged(
        f"among {large} relative to among {small}", cost[large] / cost[small], FLAT_TARGET, " ×")


def add_memory(table, results):
    table.section(f"Sizes and order of {memory_choice.APPLICATIONS} suspended applications")
    middle, most, estimates = results["memory choice ms"]
    table.figure("median", f"{middle:.1f} ms, {estimates} sizes estimated")
    table.judged("most", most, CHOICE_TARGET, " ms")


def table_of(results):
    table = Table()
    add_round_trips(table, results)
    add_stop_times(table, results)
    add_socket_wakes(table, results)
    add_floods(table, results)
    add_attacks(table, results)
    add_descriptors(table, results)
    add_crowd(table, results)
    add_memory(table, results)
    table.section("Idle")
    for when, resident in zip(("at first", "after 10 applications"), results["resident kB"]):
        table.judged(f"resident memory {when}", resident, RESIDENT_TARGET, " kB")
    table.judged(
        f"wake-ups in {results['idle seconds']} s, {IDLE_APPLICATIONS} suspended",
        results["idle wake-ups"], WAKE_UPS_TARGET, "")
    return table


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--daemon", required=True, help="the path of taskschedd, a release build")
    parser.add_argument("--programs", required=True, help="the directory of the built C programs")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: about 2 minutes")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    return parser.parse_args()


def main():
    arguments = parse()
    # After SIGTERM or SIGHUP, the program cleans up like at any other end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
    own, watching = cpus()
    os.sched_setaffinity(0, {own})
    # Writes programs that were just built to the disk. Their pages would otherwise be dirty, and
    # count as memory of the daemon.
    os.sync()

    def progress(what):
        print(f"measuring {what} …", file=sys.stderr, flush=True)

    started = time.monotonic()
    load = os.getloadavg()[0]
    try:
        programs, daemon = map(os.path.abspath, (arguments.programs, arguments.daemon))
        with Bench(programs, daemon) as bench:
            results = measure(bench, Scale(arguments.quick), watching, progress)
    except Failure as failure:
        sys.exit(f"bench: {failure}")
    if arguments.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
        return
    print(
        f"Linux {platform.release()}, all on CPU {own}, load {load:.1f} before, "
        f"{time.monotonic() - started:.0f} s")
    print(table_of(results))


if __name__ == "__main__":
    main()
