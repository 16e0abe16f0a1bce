"""The first process of the small machine of bench_memory.py. It controls all runs.

It prints the result of each run as a line of JSON on the second serial line. After the last run, it
turns the machine off.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
import traceback

MIB = 1 << 20
RB_AUTOBOOT = 0x01234567
MCL_CURRENT, MCL_FUTURE = 1, 2
STEP, PAUSE = 1 * MIB, 0.004
SECONDS_MAX = 30
# The size at which a program stops growing, even if no application was ended.
GROWTH_MAX = 4096 * MIB
# The page cache fills the memory until this much is free. With less free memory, the kernel evicts
# the cache.
FREE_MAX = 24 * MIB
DIRECTORY = "/run/taskschedd"
SETTINGS = """operator-group = ""
log-level = "notice"
[policy]
LaunchTime = "10ms"
MemoryPressureStall = "{stall}"
MemoryPressureWindow = "500ms"
MemoryWarningTime = "10ms"
MemoryFloorPercent = {percent}
"""
libc = ctypes.CDLL(None, use_errno=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Program:
    """A process with private memory. With `grows`, the memory grows on request."""

    def __init__(self, size, grows=False):
        started, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                # This script is exempt from the OOM killer. The new process must not inherit the
                # exemption.
                write("/proc/self/oom_score_adj", "0")
                held = [b"\1" * STEP for _ in range(size // STEP)]
                os.write(told, b"!")
                signal.sigwait([signal.SIGUSR1]) if grows else signal.pause()
                while grows and len(held) * STEP < GROWTH_MAX:
                    held.append(b"\1" * STEP)
                    time.sleep(PAUSE)
                signal.pause()
            finally:
                os._exit(0)
        os.close(told)
        if os.read(started, 1) != b"!":
            raise RuntimeError("a program could not be started")
        os.close(started)
        self.pidfd = os.pidfd_open(self.pid)

    @property
    def is_alive(self):
        return not select.select([self.pidfd], [], [], 0)[0]

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pidfd)


class Memory:
    """The available memory, the time when it was first below the threshold, and the stalls."""

    def __init__(self, percent):
        self.file = os.open("/proc/meminfo", os.O_RDONLY)
        self.pressure = os.open("/proc/pressure/memory", os.O_RDONLY)
        self.total = self.read(b"MemTotal:")
        self.threshold = self.total * percent // 100
        self.available = self.lowest = self.total
        self.threshold_at = self.stalled_at = None

    def read(self, name):
        text = os.pread(self.file, 4096, 0)
        return int(text[text.index(name) + len(name):].split(None, 1)[0]) * 1024

    def update(self):
        self.available = self.read(b"MemAvailable:")
        self.lowest = min(self.lowest, self.available)
        if self.threshold_at is None and self.available < self.threshold:
            self.threshold_at = time.monotonic()
            self.stalled = self.stalls()
        elif self.threshold_at and self.stalled_at is None and self.stalls() > self.stalled:
            self.stalled_at = time.monotonic()

    def stalls(self):
        """Returns the total time for which processes have waited for memory, in µs."""
        return int(os.pread(self.pressure, 4096, 0).split(b"total=")[1].split(None, 1)[0])

    def close(self):
        os.close(self.file)
        os.close(self.pressure)


class Contender:
    """The program that ends applications: taskschedd or earlyoom. Records its output with times."""

    def __init__(self, who, parameters):
        self.who, self.said = who, []
        percent = parameters["percent"]
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        os.makedirs(DIRECTORY + "/applications")
        write(DIRECTORY + "/settings", SETTINGS.format(percent=percent, stall=parameters["stall"]))
        command = [parameters["earlyoom"], "-m", str(percent), "-r", "0"]
        if who == "taskschedd":
            command = [
                parameters["daemon"], "--config", DIRECTORY + "/settings", "--manifests",
                DIRECTORY + "/applications", "--socket", DIRECTORY + "/socket", "--state",
                DIRECTORY + "/state", "--log-target", "stderr"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            text=True, bufsize=1)
        # Services are not exempt from the OOM killer, so the program must not inherit the exemption
        # of this script.
        write(f"/proc/{self.process.pid}/oom_score_adj", "0")
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        for line in self.process.stdout:
            self.said.append((time.monotonic(), line.rstrip()))

    def call(self, method, parameters, descriptors=()):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(DIRECTORY + "/socket")
            message = {"method": "org.taskschedd.Control." + method, "parameters": parameters}
            socket.send_fds(connection, [json.dumps(message).encode() + b"\0"], descriptors)
            answer = b""
            while not answer.endswith(b"\0"):
                part = connection.recv(65536)
                if not part:
                    raise RuntimeError(f"{method}: the daemon closed the connection")
                answer += part
        if b'"error"' in answer:
            raise RuntimeError(f"{method}: {answer.decode()}")
        return json.loads(answer[:-1]).get("parameters", {})

    def serves(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(DIRECTORY + "/socket") == 0

    def manage(self, programs):
        """Makes the program manage the applications, and waits until it does."""
        if self.who == "earlyoom":
            return self.wait(lambda: any("mem total" in line for _, line in self.said))
        self.wait(self.serves)
        managed = {name: one for name, one in programs.items() if name != "eater"}
        for name, one in managed.items():
            self.call("Adopt", {
                "application": "org.example." + name, "processFileDescriptor": 0,
                "background": name != "foreground"}, [one.pidfd])

        def are_suspended():
            found = self.call("ListApplications", {})["applications"]
            return [one["state"] for one in found].count("suspended") == len(managed) - 1
        self.wait(are_suspended)

    def wait(self, condition):
        limit = time.monotonic() + 30
        while not condition():
            if time.monotonic() > limit or self.process.poll() is not None:
                raise RuntimeError(f"{self.who} is not ready: {self.said}")
            time.sleep(0.01)

    def signalled_at(self):
        words = "to process" if self.who == "earlyoom" else "was chosen for termination"
        return next((at for at, line in self.said if words in line), None)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.listener.join()


def fill_cache(disk):
    """Fills the free memory with page cache, as on a machine that has run for a while."""
    memory = Memory(0)
    while memory.read(b"MemFree:") > FREE_MAX:
        if not disk.read(MIB):
            disk.seek(0)
    memory.close()


def observe(memory, contender, programs, grower):
    os.kill(programs[grower].pid, signal.SIGUSR1)
    begin, victim, back = time.monotonic(), None, None
    while time.monotonic() < begin + SECONDS_MAX:
        memory.update()
        if victim is None:
            victim = next((n for n, one in programs.items() if not one.is_alive), None)
        elif memory.available > memory.threshold:
            back = time.monotonic()
            break
        time.sleep(0.001)
    signalled = contender.signalled_at()
    return {
        "victim": victim, "lowest": memory.lowest // MIB, "total": memory.total // MIB,
        "foreground": programs["foreground"].is_alive,
        # The time of the program's signal; None if the kernel's OOM killer acted instead.
        "signal": signalled and memory.threshold_at
        and (signalled - memory.threshold_at) * 1000,
        # The time of the first stall that the kernel could report.
        "stalled": memory.stalled_at and (memory.stalled_at - memory.threshold_at) * 1000,
        "back": back and signalled and (back - signalled) * 1000}


def run(who, parameters, disk):
    grower, sizes = parameters["grows"], parameters["sizes"]
    programs, contender, memory = {}, None, None
    try:
        for name, size in sizes.items():
            programs[name] = Program(size * MIB, grows=name == grower)
        fill_cache(disk)
        contender = Contender(who, parameters)
        contender.manage(programs)
        memory = Memory(parameters["percent"])
        result = observe(memory, contender, programs, grower)
        result["said"] = [line for _, line in contender.said]
        return result
    finally:
        for one in programs.values():
            one.end()
        if contender:
            contender.end()
        if memory:
            memory.close()


def main():
    out = open("/dev/ttyS1", "w", encoding="utf-8", buffering=1)
    try:
        libc.mlockall(MCL_CURRENT | MCL_FUTURE)
        write("/proc/self/oom_score_adj", "-1000")
        os.sched_setscheduler(
            0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        with open("/bench/parameters", encoding="utf-8") as file:
            parameters = json.load(file)
        disk = open("/dev/vdb", "rb", buffering=0)
        for number in range(parameters["runs"]):
            for who in ("taskschedd", "earlyoom"):
                found = run(who, parameters, disk)
                print(json.dumps({"who": who, "number": number, **found}), file=out)
    except Exception:
        print(json.dumps({"problem": traceback.format_exc()}), file=out)
    finally:
        out.close()
        libc.reboot(RB_AUTOBOOT)


main()
