"""How long the daemon takes to select one of many applications to terminate for memory."""

import os
import time

from harness import Failure, median, wait_until

APPLICATIONS = 500
# The private memory of each application, in addition to the memory that it shares with others.
MEGABYTES = 4


def member(number):
    """Starts a process that holds private memory and waits."""
    pid = os.fork()
    if pid:
        return pid
    try:
        # Each application has one page more than the previous one, so that their order is defined.
        held = bytearray(os.urandom(4096)) * (MEGABYTES * 256 + number)
        while held:
            time.sleep(3600)
    finally:
        os._exit(0)


def measure(bench, rounds, count=APPLICATIONS):
    """Returns the median and the maximum time of a selection in ms, and how many of the sizes were
    estimates. In each round, the daemon orders `count` suspended applications by size."""
    daemon = bench.daemon("memory", settings='[policy]\nLaunchTime = "10ms"\n')
    pids = [member(number) for number in range(count)]
    try:
        for number, pid in enumerate(pids):
            daemon.adopt(f"org.example.held{number}", pid, background=True)
        wait_until(
            lambda: all(a["state"] == "suspended" for a in daemon.call(
                "ListApplications", {})["applications"]),
            "suspending all", 60)
        times, estimates = [], 0
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            order = daemon.call("GetMemory", {})["applications"]
            times.append((time.perf_counter() - begin) * 1000)
            estimates = sum(one["estimate"] for one in order)
            if order[0]["application"] != f"org.example.held{count - 1}":
                raise Failure(f"the next application is not the largest, but {order[0]}")
        return median(times[1:]), max(times[1:]), estimates
    finally:
        for pid in pids:
            os.kill(pid, 9)
        for pid in pids:
            os.waitpid(pid, 0)
        bench.end(daemon.process)
