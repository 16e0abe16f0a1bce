#!/usr/bin/env python3
"""Measures who ends an application for memory, beside earlyoom. See README.md beside this file;
`make bench-memory` runs it.

Each run is in namespaces of its own: neither contender sees a process of the machine, and both read
the same made-up /proc/meminfo, kept up to date from what the run's control group uses.
"""

import argparse
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from harness import Failure, cgroup_mount, median, own_group, remove_group

MIB = 1 << 20
# The made-up machine, and the part of it below which both are to act.
MACHINE = 512 * MIB
THRESHOLD_PERCENT = 10
LARGE, SMALL, FOREGROUND = 150 * MIB, 60 * MIB, 40 * MIB
# The foreground grows so much in each of these pauses, until one is ended.
STEP, PAUSE = 1 * MIB, 0.004
SECONDS_MAX = 30
OLDER = "/sys/fs/cgroup/memory"
CAP_SYS_RESOURCE = 24
SETTINGS = f"""operator-group = ""
log-level = "notice"
[policy]
LaunchTime = "10ms"
MemoryPressureStall = "100us"
MemoryPressureWindow = "500ms"
MemoryWarningTime = "10ms"
MemoryFloorPercent = {THRESHOLD_PERCENT}
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Application:
    """A process that holds memory of its own; where `grows`, ever more of it."""

    def __init__(self, groups, size, grows=False):
        started, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for group in groups:
                    write(group + "/cgroup.procs", "0")
                held = [os.urandom(MIB // 4) * 4 for _ in range(size // MIB)]
                os.write(told, b"!")
                signal.sigwait([signal.SIGUSR1]) if grows else signal.pause()
                while grows and sum(map(len, held)) < MACHINE:
                    held.append(os.urandom(STEP // 4) * 4)
                    time.sleep(PAUSE)
                signal.pause()
            finally:
                os._exit(0)
        os.close(told)
        if os.read(started, 1) != b"!":
            raise Failure("an application could not be started")
        os.close(started)
        self.pidfd = os.pidfd_open(self.pid)

    @property
    def is_alive(self):
        return not select.select([self.pidfd], [], [], 0)[0]


class Machine:
    """The made-up machine: how much the control group uses of it."""

    def __init__(self, group, meminfo):
        self.stat = open(group + "/memory.stat", encoding="utf-8")
        self.meminfo = open(meminfo, "r+b", buffering=0)
        self.available = MACHINE
        self.lowest = MACHINE
        self.threshold_at = None
        self.update()

    def update(self):
        self.stat.seek(0)
        fields = dict(line.split() for line in self.stat)
        used = int(fields["total_rss"]) + int(fields.get("total_shmem", 0))
        self.available = max(0, MACHINE - used)
        text = "".join(
            f"{name + ':':<16}{size // 1024:>8} kB\n" for name, size in (
                ("MemTotal", MACHINE), ("MemFree", self.available),
                ("MemAvailable", self.available), ("Buffers", 0), ("Cached", 0),
                ("AnonPages", used), ("SwapTotal", 0), ("SwapFree", 0)))
        # Of one length always, in one write: no reader sees half of it.
        os.pwrite(self.meminfo.fileno(), text.encode(), 0)
        self.lowest = min(self.lowest, self.available)
        if self.threshold_at is None and self.available < MACHINE * THRESHOLD_PERCENT / 100:
            self.threshold_at = time.monotonic()


def call(path, method, parameters, descriptors=()):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        message = {"method": "org.taskschedd.Control." + method, "parameters": parameters}
        socket.send_fds(connection, [json.dumps(message).encode() + b"\0"], descriptors)
        answer = b""
        while not answer.endswith(b"\0"):
            part = connection.recv(65536)
            if not part:
                raise Failure(f"{method}: the daemon closed the connection")
            answer += part
    if b'"error"' in answer:
        raise Failure(f"{method}: {answer.decode()}")
    return json.loads(answer[:-1]).get("parameters", {})


def manage(path, applications):
    for name, one in applications.items():
        call(path, "Adopt", {
            "application": "org.example." + name, "processFileDescriptor": 0,
            "background": name != "foreground"}, [one.pidfd])
    limit = time.monotonic() + 10
    while True:
        states = [one["state"] for one in call(path, "ListApplications", {})["applications"]]
        if states.count("suspended") == len(applications) - 1:
            return
        if time.monotonic() > limit:
            raise Failure(f"not suspended within 10 s: {states}")
        time.sleep(0.01)


def wait_for(path, process):
    limit = time.monotonic() + 20
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(path) == 0:
                return
        if process.poll() is not None or time.monotonic() > limit:
            raise Failure("the daemon does not serve")
        time.sleep(0.01)


def contender(arguments, folder, v2):
    if arguments.who == "earlyoom":
        return [arguments.earlyoom, "-m", str(THRESHOLD_PERCENT), "-r", "0"]
    write(folder + "/taskschedd.toml", SETTINGS)
    os.makedirs(folder + "/applications")
    return [
        arguments.daemon, "--config", folder + "/taskschedd.toml", "--manifests",
        folder + "/applications", "--socket", folder + "/socket", "--state", folder + "/state",
        "--log-target", "stderr", "--memory-pressure", v2 + "/memory.pressure"]


def fill_cache(path, groups):
    """Reads a file within the group, so that it is full of what can be had again."""
    pid = os.fork()
    if pid == 0:
        for group in groups:
            write(group + "/cgroup.procs", "0")
        with open(path, "rb", buffering=0) as file:
            while file.read(MIB):
                pass
        os._exit(0)
    os.waitpid(pid, 0)


def inner(arguments):
    """One run, as the first process of its namespaces."""
    folder, v1, v2 = arguments.folder, arguments.v1, arguments.v2
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    write(folder + "/meminfo", " " * 4096)
    machine = Machine(v1, folder + "/meminfo")
    subprocess.run(["mount", "--bind", folder + "/meminfo", "/proc/meminfo"], check=True)
    groups = [v1, v2]
    applications = {
        "large": Application(groups, LARGE), "small": Application(groups, SMALL),
        "foreground": Application(groups, FOREGROUND, grows=True)}
    fill_cache(arguments.cache, groups)
    said = []
    process = subprocess.Popen(
        contender(arguments, folder, v2), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, text=True, bufsize=1)

    def listen():
        for line in process.stdout:
            said.append((time.monotonic(), line.rstrip()))

    threading.Thread(target=listen, daemon=True).start()
    if arguments.who == "taskschedd":
        wait_for(folder + "/socket", process)
        manage(folder + "/socket", applications)
    else:
        time.sleep(1)
    machine.update()
    os.kill(applications["foreground"].pid, signal.SIGUSR1)
    begin, signalled, back, victim = time.monotonic(), None, None, None
    while time.monotonic() < begin + SECONDS_MAX:
        machine.update()
        if victim is None:
            victim = next((n for n, one in applications.items() if not one.is_alive), None)
            if victim:
                # As it says itself; else it was the kernel's out-of-memory killer.
                words = "to process" if arguments.who == "earlyoom" else "is to end"
                signalled = next((at for at, line in said if words in line), None)
        if victim and machine.available > MACHINE * THRESHOLD_PERCENT / 100:
            back = time.monotonic()
            break
        time.sleep(0.001)
    result = {
        "victim": victim, "lowest": machine.lowest // MIB,
        "foreground": applications["foreground"].is_alive,
        "signal": signalled and machine.threshold_at
        and (signalled - machine.threshold_at) * 1000,
        "back": back and signalled and (back - signalled) * 1000}
    if arguments.verbose:
        print("\n".join(line for _, line in said), file=sys.stderr)
    write(folder + "/result", json.dumps(result))
    # The others end with the first process of the namespace.
    os._exit(0)


# Outside.


def run(arguments, who, number, cache):
    folder = tempfile.mkdtemp(prefix="taskschedd-bench-memory-")
    parent, reason = own_group()
    if parent is None:
        raise Failure(reason)
    name = f"taskschedd-bench-memory-{os.getpid()}-{number}"
    v2, v1 = os.path.join(parent, name), os.path.join(OLDER, name)
    try:
        os.mkdir(v2)
        os.mkdir(v1)
        write(v1 + "/memory.limit_in_bytes", str(MACHINE))
        subprocess.run(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--ipc", "--mount-proc",
             "--propagation", "private", sys.executable, os.path.abspath(__file__), "--inner",
             "--who", who, "--folder", folder, "--v1", v1, "--v2", v2, "--cache", cache,
             "--daemon", arguments.daemon, "--earlyoom", arguments.earlyoom,
             *(["--verbose"] if arguments.verbose else [])],
            check=True, timeout=120)
        with open(folder + "/result", encoding="utf-8") as file:
            return json.load(file)
    finally:
        remove_group(v2)
        remove_older(v1)
        shutil.rmtree(folder, ignore_errors=True)


def has_capability(number):
    with open("/proc/self/status", encoding="ascii") as status:
        effective = next(line for line in status if line.startswith("CapEff:"))
    return int(effective.split()[1], 16) >> number & 1 == 1


def remove_older(path):
    limit = time.monotonic() + 10
    while os.path.isdir(path) and time.monotonic() < limit:
        try:
            os.rmdir(path)
        except OSError:
            time.sleep(0.05)


def summary(results):
    signals = [one["signal"] for one in results if one["signal"] is not None]
    backs = [one["back"] for one in results if one["back"] is not None]
    return {
        "signal": median(signals) if signals else None,
        "back": median(backs) if backs else None,
        "lowest": min(one["lowest"] for one in results),
        # What the kernel ends is nobody's choice.
        "right": sum(one["victim"] == "large" and one["signal"] is not None for one in results),
        "alive": sum(one["foreground"] for one in results), "runs": len(results)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--daemon", required=True)
    parser.add_argument("--earlyoom", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", action="store_true")
    for name in ("who", "folder", "v1", "v2", "cache"):
        parser.add_argument("--" + name, help=argparse.SUPPRESS)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inner:
        return inner(arguments)
    arguments.daemon = os.path.abspath(arguments.daemon)
    arguments.earlyoom = os.path.abspath(arguments.earlyoom)
    if os.geteuid() != 0 or not os.path.exists(OLDER + "/memory.limit_in_bytes"):
        print("SKIPPED: it needs root and a memory controller at " + OLDER)
        return
    if not has_capability(CAP_SYS_RESOURCE):
        print("no CAP_SYS_RESOURCE: the kernel looks at our triggers each 2 s only, and in less than "
              "that its own out-of-memory killer comes first; these are not the figures of a machine")
    results = {"taskschedd": [], "earlyoom": []}
    with tempfile.TemporaryDirectory(prefix="taskschedd-bench-memory-") as folder:
        cache = folder + "/cache"
        with open(cache, "wb") as file:
            for _ in range(MACHINE // MIB):
                file.write(os.urandom(MIB))
            os.fsync(file.fileno())
        for number in range(arguments.runs):
            for who, found in results.items():
                # Else its pages would count for whoever read them first.
                with open(cache, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                found.append(run(arguments, who, f"{number}-{who}", cache))
                print(f"{number + 1} {who}: {found[-1]}", file=sys.stderr, flush=True)
    if arguments.json:
        return print(json.dumps(results))
    print(f"{'':<12}{'to signal':>12}{'to memory':>12}{'lowest':>10}{'victim':>9}{'screen':>9}")
    sums = {who: summary(found) for who, found in results.items()}
    for who, one in sums.items():
        times = [f"{one[key]:.1f} ms" if one[key] is not None else "none"
                 for key in ("signal", "back")]
        print(f"{who:<12}{times[0]:>12}{times[1]:>12}{one['lowest']:>6} MiB"
              f"{one['right']:>6}/{one['runs']}{one['alive']:>6}/{one['runs']}")
    own, other = (sums[who]["signal"] for who in ("taskschedd", "earlyoom"))
    if own is not None and other:
        print(f"threshold to signal beside earlyoom: {own / other:.2f} × (to reach: below 1)")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"bench-memory: {failure}")
