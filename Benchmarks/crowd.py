"""The cost of registered applications: registration, memory, and the effect on others."""

import subprocess
import time

from harness import Failure, median, wait_until

SIZES = (100, 1000, 5000)
SMALL = 10
END_SECONDS = 20
# No limit of the policy may affect the measurement.
SETTINGS = (
    '[policy]\nCallbackTimeout = "1min"\nBackgroundTime = "1d"\nMaxConnectionsPerUser = 16384\n')


class Herd:
    """Applications of a daemon. Each is a process that waits with one task. If `idle`, the
    applications have no task and are suspended."""

    def __init__(self, workshop, daemon, idle=False):
        self.size = 0
        self.workshop = workshop
        self.process = workshop.start(
            [workshop.program("herd"), daemon.socket] + ["idle"] * idle,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def grow(self, size):
        """Adds applications and returns how many were registered in a second."""
        self.process.stdin.write(f"{size}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 3:
            raise Failure(f"{size} applications could not all register: see above")
        added, self.size = size - self.size, size
        return added / (int(answer[1]) / 1e9)

    def end(self):
        """Ends the processes by their own parent, which then reaps them."""
        self.process.stdin.close()
        self.process.wait(END_SECONDS)
        self.workshop.end(self.process)


def registrations(workshop, rounds, count):
    """Returns the registrations per second at a new daemon: the median of the rounds."""
    rates = []
    for number in range(rounds):
        daemon = workshop.daemon(f"registrations-{number}", SETTINGS)
        herd = Herd(workshop, daemon)
        rates.append(herd.grow(count))
        herd.end()
        workshop.end(daemon.process)
    return median(rates)


def round_trip(workshop, daemon, calls):
    """Returns the p50 in µs of one application among the existing ones."""
    lines = workshop.run([workshop.program("round-trip"), "1", str(calls), daemon.socket], 60)
    return int(lines[0][1]) / 1000


def memory_and_cost(workshop, rounds, calls):
    """Returns (resident kB of a daemon without applications, at its start and after it has had
    some; number of applications -> the daemon's private and dirty kB; number of applications -> p50
    in µs). The daemons with few and with many applications are measured in turns."""
    # Measured alone first: a second daemon would share the program's pages, so that they would not
    # be private.
    large = workshop.daemon("large", SETTINGS)
    # The daemon returns the memory of its start when it is idle.
    time.sleep(1)
    resident = [large.resident_memory()]
    # The first applications make the daemon load code that later applications do not load again.
    first = Herd(workshop, large)
    first.grow(SMALL)
    first.end()
    resident.append(large.resident_memory())
    herd = Herd(workshop, large)
    memory, cost = {0: large.memory()}, {}
    for size in SIZES:
        herd.grow(size)
        memory[size] = large.memory()
    small = workshop.daemon("small", SETTINGS)
    few = Herd(workshop, small)
    few.grow(SMALL)
    samples = {SMALL: [], SIZES[-1]: []}
    for _ in range(rounds + 1):
        samples[SMALL].append(round_trip(workshop, small, calls))
        samples[SIZES[-1]].append(round_trip(workshop, large, calls))
    for size, values in samples.items():
        cost[size] = median(values[1:])
    for owner in (few, herd):
        owner.end()
    for daemon in (small, large):
        workshop.end(daemon.process)
    return resident, memory, cost


def wake_ups_within(daemon, seconds):
    before = daemon.wake_ups()
    time.sleep(seconds)
    return daemon.wake_ups() - before


def idle_wake_ups(workshop, applications, seconds):
    """Returns how often a daemon with suspended applications wakes up."""
    daemon = workshop.daemon("idle", SETTINGS)
    herd = Herd(workshop, daemon, idle=True)
    herd.grow(applications)

    def are_suspended():
        states = [each["state"] for each in daemon.call("ListApplications", {})["applications"]]
        return states == ["suspended"] * applications

    wait_until(are_suspended, "the applications are suspended")
    # The daemon's work after the last change, including a scan of all applications, is not
    # idleness.
    wait_until(lambda: wake_ups_within(daemon, 1) == 0, "a second without a wake-up", 30)
    count = wake_ups_within(daemon, seconds)
    herd.end()
    workshop.end(daemon.process)
    return count
