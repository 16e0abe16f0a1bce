"""How long an application continues to run after it has ended its last task."""

import os
import subprocess

from harness import Failure, cgroup_mount, median

PROCESSES = (1, 10, 100)


def once(bench, daemon, count, mount, observer_cpus):
    """Measures one new application. Returns two times in µs from the end of its task: until all its
    processes were stopped, and until the daemon reported the suspension."""
    rendezvous = bench.path(f"rendezvous-{count}")
    observer = bench.start(
        [bench.program("stop-time"), "observe", rendezvous, mount or ""],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # The observer runs on other CPUs, because it must not slow the processes down.
    os.sched_setaffinity(observer.pid, observer_cpus)
    expect_ready(observer)
    observer.stdin.write(daemon.socket + "\n")
    observer.stdin.flush()
    expect_ready(observer)
    id = f"org.example.stop{count}"
    daemon.call("Launch", {"application": id, "background": True})
    line = observer.stdout.readline().split()
    bench.end(observer)
    daemon.call("Terminate", {"application": id})
    os.unlink(rendezvous)
    if len(line) != 3:
        raise Failure("the time to stop could not be measured: see above")
    return int(line[1]) / 1000, int(line[2]) / 1000


def expect_ready(observer):
    if observer.stdout.readline() != "ready\n":
        raise Failure("the observer of the time to stop did not start")


def manifest(bench, count):
    program, rendezvous = bench.program("stop-time"), bench.path(f"rendezvous-{count}")
    id = f"org.example.stop{count}"
    command = f'["{program}", "member", "{count}", "{rendezvous}"]'
    return id, f'command = {command}\nworking-directory = "/"\n'


def measure(bench, mechanism, rounds, observer_cpus):
    """Returns the medians of both times in µs by number of processes, or a reason if no measurement
    is possible."""
    group = mount = None
    if mechanism == "freezer":
        # A daemon that is alone in its cgroup launches each application into a separate cgroup.
        group, reason = bench.make_group("daemon")
        if group is None:
            return reason
        mount = cgroup_mount()
    daemon = bench.daemon(
        mechanism, settings=f'suspend-mechanism = "{mechanism}"\n', group=group,
        manifests=[manifest(bench, count) for count in PROCESSES])
    samples = {count: [] for count in PROCESSES}
    for _ in range(rounds + 1):
        for count in PROCESSES:
            samples[count].append(once(bench, daemon, count, mount, observer_cpus))
    bench.end(daemon.process)
    return {
        count: tuple(median(column) for column in zip(*values[1:]))
        for count, values in samples.items()
    }
