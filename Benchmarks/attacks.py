"""How long one user waits for the daemon during and after the attack of another user."""

import json
import os
import select
import subprocess
import sys
import time

from harness import Failure

DIRECTORY = os.path.dirname(os.path.abspath(__file__))
ATTACKER, VICTIM = 65534, 65533
# The value in the daemon's unit.
NICE = -10
LIMITS = 60
LEAD_SECONDS = 1
LIMIT_SECONDS = 5
# The duration of an attack. The victim continues for the same time after the attack.
ATTACK_SECONDS = 2.5
SETTLE_SECONDS = 0.1
SHRINK_SECONDS = 60
SETTINGS = f"""[policy]
BackgroundTime = "{LIMIT_SECONDS}s"
ExpirationLead = "{LEAD_SECONDS}s"
"""
ATTACKS = {
    "4,000 connections, oneway calls": ("oneway", 4000),
    "4,000 connections, calls that wait": ("silent", 4000),
    "2,000 connections, unread answers": ("unread", 2000),
    "calls of 1 MiB": ("large", 5),
    "4,000 monitors": ("monitors", 4000),
    "misspelled ids": ("typos", 60),
}


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def start(bench, watching, name, *arguments, stdout=subprocess.PIPE, first=False):
    """Starts a Python program of this directory on the CPUs that the daemon does not use."""
    def prepare():
        os.sched_setaffinity(0, watching)
        # The victim has precedence for a CPU, because the measurement must not include waits for
        # other clients.
        if first:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    return bench.start(
        [sys.executable, os.path.join(DIRECTORY, name), *map(str, arguments)], stdout=stdout,
        text=True, prepare=prepare)


def attack(bench, daemon, watching, kind, count):
    """Attacks the daemon. Returns the attacker's output, the time of the end of the attack, and the
    waits of the victim."""
    victim = start(
        bench, watching, "victim.py", daemon.socket, VICTIM, LIMITS, int(ATTACK_SECONDS * 2),
        first=True)
    if victim.stdout.readline() != "ready\n":
        raise Failure("the victim did not start")
    began = now()
    attacker = start(bench, watching, "attacker.py", kind, daemon.socket, ATTACKER, count)
    begun, _, _ = select.select([attacker.stdout], [], [], ATTACK_SECONDS)
    line = attacker.stdout.readline() if begun else ""
    time.sleep(max(0, began + ATTACK_SECONDS - now()))
    bench.end(attacker)
    ended = now()
    output, _ = victim.communicate()
    bench.end(victim)
    return json.loads(line or "{}"), ended, [json.loads(line) for line in output.splitlines()]


def worst(waits, what):
    """Returns the p99 and the maximum of the waits of one kind, in ms."""
    times = sorted(wait["seconds"] * 1000 for wait in waits if wait["what"] == what)
    if not times:
        raise Failure(f"the victim had no {what}")
    return times[(len(times) - 1) * 99 // 100], times[-1]


def measure(bench, watching, shrink_seconds=SHRINK_SECONDS):
    """Returns a reason if no measurement is possible. Otherwise, returns a dictionary for each
    attack: "call", "connection" and "limit" are the p99 and the maximum of the victim's waits in
    ms; "resident" is the daemon's memory in kB before the attack, at its end and at the end of the
    measurement; "told" is the attacker's output."""
    if os.geteuid() != 0:
        return "only root can run processes of two users"
    # The other users must be able to reach the socket in the benchmark's directory.
    os.chmod(bench.directory, 0o755)
    results = {}
    for name, (kind, count) in ATTACKS.items():
        daemon = bench.daemon(f"attack-{kind}", SETTINGS)
        os.setpriority(os.PRIO_PROCESS, daemon.pid, NICE)
        before = daemon.resident_memory()
        told, ended, waits = attack(bench, daemon, watching, kind, count)
        waits = [w for w in waits if w["at"] <= ended or w["at"] >= ended + SETTLE_SECONDS]
        results[name] = {what: worst(waits, what) for what in ("call", "connection", "limit")}
        results[name]["told"] = told
        most = daemon.resident_memory()
        limit = time.monotonic() + shrink_seconds
        while daemon.resident_memory() > 1.5 * before and time.monotonic() < limit:
            time.sleep(0.5)
        results[name]["resident"] = before, most, daemon.resident_memory()
        bench.end(daemon.process)
    return results

