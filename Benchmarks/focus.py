#!/usr/bin/env python3
"""The time from a change of the focus until the process of the focused window runs again.

A sway without a screen shows two terminals on two workspaces. One is a managed application, whose
program reads the clock without pause. While its workspace is hidden, it is suspended. `make
bench-focus` runs this file. See README.md beside it.
"""

import argparse
import json
import os
import platform
import signal
import socket
import struct
import sys
import time

import harness
from harness import Failure, Bench, percentiles, private_dirty, wait_until, wake_ups
from table import Table

APPLICATION = "org.example.focus"
# The target of the time from the compositor's event until the application runs, in ms.
RESUMED_TARGET = 3
WAKE_UPS_TARGET = 0
MEMORY_TARGET = 3000
SETTINGS = """[policy]
FocusSettleTime = "10ms"
HiddenGraceTime = "10ms"
"""
# The pause before each sample, in which the machine becomes idle, in seconds.
PAUSE = 0.05
# The user whose desktop root measures: Debian's user without privileges.
UNPRIVILEGED = 65534
# The kinds of messages of sway's IPC.
RUN_COMMAND, SUBSCRIBE, WINDOW_EVENT = 0, 2, 0x80000003


class Compositor:
    """A connection to sway's IPC."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(harness.START_SECONDS)
        self.socket.connect(path)

    def send(self, kind, text):
        payload = text.encode()
        self.socket.sendall(b"i3-ipc" + struct.pack("=II", len(payload), kind) + payload)

    def receive(self):
        """Returns the kind and the content of the next message."""
        size, kind = struct.unpack("=6xII", self.read(14))
        return kind, json.loads(self.read(size))

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise Failure("sway closed its connection")
            data += part
        return data

    def run(self, command):
        self.send(RUN_COMMAND, command)
        replies = self.receive()[1]
        if not all(reply["success"] for reply in replies):
            raise Failure(f"sway: {command}: {replies}")

    def wait_for_window(self, change, name):
        """Waits for a change of the window with this app id. Returns the window's pid."""
        while True:
            kind, event = self.receive()
            container = event.get("container", {})
            if kind == WINDOW_EVENT and event["change"] == change and container["app_id"] == name:
                return container["pid"]


class Desktop:
    """A sway without a screen, the terminals in it, and the session agent."""

    def __init__(self, bench, agent, daemon, watching):
        # sway refuses to run as root.
        self.user = UNPRIVILEGED if os.geteuid() == 0 else os.geteuid()
        self.bench = bench
        self.directory = bench.path("session")
        os.mkdir(self.directory, 0o700)
        os.chown(self.directory, self.user, -1)
        # The user must be able to reach the socket and the programs.
        os.chmod(bench.directory, 0o755)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.directory, "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": self.directory, "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
        configuration = bench.write(
            "sway.conf", "xwayland disable\nfocus_on_window_activation none\n")
        sway = self.start(["sway", "-c", configuration])
        path = os.path.join(self.directory, f"sway-ipc.{self.user}.{sway.pid}.sock")
        bench.wait_for_socket(sway, path)
        self.commands, self.events = Compositor(path), Compositor(path)
        self.events.send(SUBSCRIBE, '["window"]')
        self.events.receive()
        self.agent = self.start([agent, "--socket", daemon.socket])
        self.watching = watching

    def start(self, arguments):
        def become_user():
            if os.geteuid() == 0:
                os.setgid(self.user)
                os.setuid(self.user)

        return self.bench.start(
            arguments, prepare=become_user, env=self.environment, cwd="/",
            stdout=sys.stderr, stderr=self.session_log())

    def session_log(self):
        return open(self.bench.path("session.log"), "ab")

    def open_terminal(self, workspace, name, *program):
        """Opens a terminal on a workspace. Returns its pid."""
        cpus = ",".join(map(str, self.watching))
        self.commands.run(f"workspace {workspace}")
        self.commands.run(
            f"exec taskset -c {cpus} foot --app-id {name} {' '.join(program)}")
        return self.events.wait_for_window("focus", name)


def measure(bench, desktop, daemon, samples):
    """Returns two lists of times from the command in µs: until the compositor's event arrived, and
    until the application ran."""
    pipe = bench.path("resumed")
    os.mkfifo(pipe, 0o600)
    os.chown(pipe, desktop.user, -1)
    resumed = os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    os.set_blocking(resumed.fileno(), True)
    desktop.open_terminal(1, "other", "cat")
    daemon.adopt(APPLICATION, desktop.open_terminal(
        2, "measured", bench.program("focus-wake"), pipe))
    events, runs = [], []
    for _ in range(samples + samples // 10):
        desktop.commands.run("workspace 1")
        desktop.events.wait_for_window("focus", "other")
        wait_until(
            lambda: daemon.application(APPLICATION)["state"] == "suspended", "the suspension")
        time.sleep(PAUSE)
        start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        desktop.commands.run("workspace 2")
        desktop.events.wait_for_window("focus", "measured")
        events.append((time.clock_gettime_ns(time.CLOCK_BOOTTIME) - start) / 1000)
        runs.append((int(resumed.readline()) - start) / 1000)
    # The first samples warm up the machine.
    return events[samples // 10:], runs[samples // 10:]


def table_of(events, runs, agent, seconds):
    table = Table()
    table.section("From a change of the workspace: p50, p99")
    table.figure("the compositor's event", "{:.2f}, {:.2f} ms".format(
        *(value / 1000 for value in percentiles(events))))
    table.figure("the process of the focused window runs", "{:.2f}, {:.2f} ms".format(
        *(value / 1000 for value in percentiles(runs))))
    later = percentiles([run - event for event, run in zip(events, runs)])
    table.judged("p50 after the event", later[0] / 1000, RESUMED_TARGET, " ms")
    table.judged("p99 after the event", later[1] / 1000, RESUMED_TARGET, " ms")
    table.section("The session agent, idle")
    before = wake_ups(agent)
    time.sleep(seconds)
    table.judged(f"wake-ups in {seconds} s", wake_ups(agent) - before, WAKE_UPS_TARGET, "")
    table.judged("private dirty memory", private_dirty(agent), MEMORY_TARGET, " kB")
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--daemon", required=True, help="the path of taskschedd, a release build")
    parser.add_argument("--agent", required=True, help="the path of taskschedd-session")
    parser.add_argument("--programs", required=True, help="the directory of the built C programs")
    parser.add_argument("--samples", type=int, default=200, help="the number of changes (200)")
    parser.add_argument("--quick", action="store_true", help="50 changes, and 10 s of idleness")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
    available = os.sched_getaffinity(0)
    own = max(available)
    os.sched_setaffinity(0, {own})
    paths = map(os.path.abspath, (arguments.programs, arguments.daemon))
    try:
        with Bench(*paths) as bench:
            daemon = bench.daemon("focus", SETTINGS)
            desktop = Desktop(
                bench, os.path.abspath(arguments.agent), daemon, (available - {own}) or {own})
            samples = 50 if arguments.quick else arguments.samples
            results = measure(bench, desktop, daemon, samples)
            table = table_of(*results, desktop.agent.pid, 10 if arguments.quick else 60)
    except Failure as failure:
        sys.exit(f"bench-focus: {failure}")
    print(f"Linux {platform.release()}, {samples} changes, all but the terminals on CPU {own}")
    print(table)


if __name__ == "__main__":
    main()
