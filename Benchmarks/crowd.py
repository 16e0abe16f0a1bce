"""The cost of registered applications: their registration, the daemon's memory, slower calls."""

import subprocess
import time

from harness import Failure, median, wait_until

SIZES = (100, 1000, 5000)
SMALL = 10
END_SECONDS = 20
# Long limits, because no limit of the policy may affect the measurement.
SETTINGS = (
    '[policy]\nCallbackTimeout = "1min"\nBackgroundTime = "1d"\nMaxConnectionsPerUser = 16384\n')


class Herd:
    """Applications of a daemon, each in a separate process. With `idle`, they have no task, so the
    daemon suspends them. Otherwise each has one task and waits."""

    def __init__(self, bench, daemon, idle=False):
        self.size = 0
        self.bench = bench
        self.process = bench.start(
            [bench.program("herd"), daemon.socket] + ["idle"] * idle,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def grow(self, size):
        """Adds applications up to the given number. Returns the registrations per second."""
        self.process.stdin.write(f"{size}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 3:
            raise Failure(f"{size} applications could not all register: see above")
        added, self.size = size - self.size, size
        return added / (int(answer[1]) / 1e9)

    def end(self):
        """Ends the applications: their parent process kills and reaps them, and then exits."""
        self.process.stdin.close()
        self.process.wait(END_SECONDS)
        self.bench.end(self.process)


def registrations(bench, rounds, count):
    """Returns the registrations per second at a new daemon: the median of the rounds."""
    rates = []
    for number in range(rounds):
        daemon = bench.daemon(f"registrations-{number}", SETTINGS)
        herd = Herd(bench, daemon)
        rates.append(herd.grow(count))
        herd.end()
        bench.end(daemon.process)
    return median(rates)


def round_trip(bench, daemon, calls):
    """Returns the p50 in µs of calls of one more application."""
    lines = bench.run([bench.program("round-trip"), "1", str(calls), daemon.socket], 60)
    return int(lines[0][1]) / 1000


def memory_and_cost(bench, rounds, calls):
    """Returns three results: the resident kB of a daemon without applications, at first and after
    its first applications have ended; its private and dirty kB by number of applications; the p50
    of a call in µs by number of applications, for which two daemons take turns."""
    # The memory is measured before the second daemon starts, because the two daemons would share
    # the pages of the program, so that these would not be private.
    large = bench.daemon("large", SETTINGS)
    # When the daemon is idle after its start, it returns memory to the kernel.
    time.sleep(1)
    resident = [large.resident_memory()]
    # The first applications make the daemon load code, which further applications do not need.
    first = Herd(bench, large)
    first.grow(SMALL)
    first.end()
    resident.append(large.resident_memory())
    herd = Herd(bench, large)
    memory, cost = {0: large.memory()}, {}
    for size in SIZES:
        herd.grow(size)
        # When the daemon is idle again, it returns the memory that only the registrations needed.
        time.sleep(1)
        memory[size] = large.memory()
    small = bench.daemon("small", SETTINGS)
    few = Herd(bench, small)
    few.grow(SMALL)
    samples = {SMALL: [], SIZES[-1]: []}
    for _ in range(rounds + 1):
        samples[SMALL].append(round_trip(bench, small, calls))
        samples[SIZES[-1]].append(round_trip(bench, large, calls))
    for size, values in samples.items():
        cost[size] = median(values[1:])
    for owner in (few, herd):
        owner.end()
    for daemon in (small, large):
        bench.end(daemon.process)
    return resident, memory, cost


def wake_ups_within(daemon, seconds):
    before = daemon.wake_ups()
    time.sleep(seconds)
    return daemon.wake_ups() - before


def idle_wake_ups(bench, applications, seconds):
    """Returns how often a daemon with suspended applications wakes up in the given time."""
    daemon = bench.daemon("idle", SETTINGS)
    herd = Herd(bench, daemon, idle=True)
    herd.grow(applications)

    def are_suspended():
        states = [each["state"] for each in daemon.call("ListApplications", {})["applications"]]
        return states == ["suspended"] * applications

    wait_until(are_suspended, "the applications are suspended")
    # After the last suspension, the daemon still has work, such as a scan of all applications.
    wait_until(lambda: wake_ups_within(daemon, 1) == 0, "a second without a wake-up", 30)
    count = wake_ups_within(daemon, seconds)
    herd.end()
    bench.end(daemon.process)
    return count
