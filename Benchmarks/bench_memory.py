#!/usr/bin/env python3
"""Compares how taskschedd and earlyoom end applications for memory. See README.md beside this file;
`make bench-memory` runs it.

All runs are in a small virtual machine, so that neither program sees a process of this machine.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

from harness import Failure, median
from small_machine import SmallMachine, is_virtualized, missing

MACHINE = 768
# Without KVM, qemu counts each instruction as a nanosecond (-icount). In this mode, two CPUs would
# wait for each other endlessly.
CPUS = 2 if is_virtualized() else 1
THRESHOLD_PERCENT = 10
# The initial sizes of the programs in MiB.
SIZES = {"large": 200, "small": 60, "foreground": 60, "eater": 20}
SECONDS_MAX = 60


def runs(machine, arguments):
    """Boots the machine. Returns the results of all runs, which the machine prints line by line."""
    process = machine.boot(is_virtualized())
    silence = None
    results = {"taskschedd": [], "earlyoom": []}
    try:
        for line in process.stdout:
            if silence:
                silence.cancel()
            silence = threading.Timer(10 * SECONDS_MAX, process.kill)
            silence.daemon = True
            silence.start()
            found = json.loads(line)
            if "problem" in found:
                raise Failure("in the small machine: " + found["problem"])
            said = found.pop("said")
            if arguments.verbose:
                print("\n".join(said), file=sys.stderr)
            print(found, file=sys.stderr, flush=True)
            results[found["who"]].append(found)
    finally:
        if silence:
            silence.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
    if any(len(found) != arguments.runs for found in results.values()):
        raise Failure("the small machine ended early:\n" + machine.console()[-4000:])
    return results


def summary(results):
    signals = [one["signal"] for one in results if one["signal"] is not None]
    backs = [one["back"] for one in results if one["back"] is not None]
    return {
        "signal": median(signals) if signals else None,
        "range": (min(signals), max(signals)) if signals else None,
        "back": median(backs) if backs else None,
        "lowest": min(one["lowest"] for one in results),
        # Without a time of the signal, the kernel killed the process, not the measured program.
        "right": sum(one["victim"] == "large" and one["signal"] is not None for one in results),
        "alive": sum(one["foreground"] for one in results), "runs": len(results)}


def show(results, release, grows):
    total = results["taskschedd"][0]["total"]
    means = "KVM" if is_virtualized() else "no KVM, 1 ns for each instruction"
    print(f"Linux {release} in qemu ({means}), CPUs: {CPUS}, {total} MiB, "
          f"threshold {THRESHOLD_PERCENT} %, {grows} grows")
    print(f"{'':<12}{'to signal':>12}{'least':>11}{'most':>11}{'to memory':>12}{'lowest':>10}"
          f"{'victim':>9}{'screen':>9}")
    sums = {who: summary(found) for who, found in results.items()}
    for who, one in sums.items():
        times = [one["signal"], *(one["range"] or (None, None)), one["back"]]
        words = [f"{time:.1f} ms" if time is not None else "none" for time in times]
        counts = "".join(f"{one[key]:>6}/{one['runs']}" for key in ("right", "alive"))
        print(f"{who:<12}{words[0]:>12}{words[1]:>11}{words[2]:>11}{words[3]:>12}"
              f"{one['lowest']:>6} MiB{counts}")
    own, other = sums["taskschedd"], sums["earlyoom"]
    print("Targets")
    if own["signal"] is not None and other["signal"] is not None:
        ratio = own["signal"] / other["signal"]
        verdict(f"to the signal, relative to earlyoom: {ratio:.2f} × (below 1)", ratio < 1)
    for name, key in (("the largest ended", "right"), ("the screen survived", "alive")):
        verdict(f"{name}: {own[key]} of {own['runs']} (all)", own[key] == own["runs"])


def verdict(text, is_reached):
    print(f"  {text:<54}{'reached' if is_reached else 'MISSED'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--unpacked", required=True, help="where the packages are unpacked")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--grows", choices=["eater", "foreground"], default="eater")
    parser.add_argument("--stall", default="100us")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    reason = missing(arguments.unpacked)
    if reason:
        print("SKIPPED: " + reason)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    directory = tempfile.mkdtemp(prefix="taskschedd-bench-memory-")
    try:
        machine = SmallMachine(directory, arguments.unpacked, MACHINE, CPUS)
        earlyoom = os.path.join(arguments.unpacked, "usr/bin/earlyoom")
        script = os.path.join(os.path.dirname(__file__), "memory_run.py")
        machine.make([arguments.daemon, earlyoom], script, {
            "daemon": "/bench/" + os.path.basename(arguments.daemon),
            "earlyoom": "/bench/earlyoom", "runs": arguments.runs, "sizes": SIZES,
            "percent": THRESHOLD_PERCENT, "grows": arguments.grows, "stall": arguments.stall})
        begin = time.monotonic()
        results = runs(machine, arguments)
        print(f"{time.monotonic() - begin:.0f} s", file=sys.stderr)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if arguments.json:
        return print(json.dumps(results))
    show(results, machine.release, arguments.grows)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"bench-memory: {failure}")
