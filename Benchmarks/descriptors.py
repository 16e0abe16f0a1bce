"""How long a user waits while the daemon examines another user's application with many descriptors.

The application opens sockets, forks children that inherit them, and is repeatedly sent to the
background. Meanwhile the other user calls, connects, and has applications whose background time
ends. See README.md beside this file.
"""

import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time

from harness import Failure, Bench, wait_until

ATTACKER = 65534
VICTIM = 65533
# The value in the daemon's unit.
DAEMON_NICE = -10
SOCKETS = 19_000
CHILDREN = 120
# The second application has fewer sockets, but more processes.
FEWER_SOCKETS = 10_000
MANY_CHILDREN = 1_000
BACKGROUND_SECONDS = 4
LIMITS = 40
LIMIT_INTERVAL = 0.05
CALL_INTERVAL = 0.002
CONNECT_INTERVAL = 0.02
SETTINGS = f"""[policy]
BackgroundTime = "{BACKGROUND_SECONDS}s"
ExpirationLead = "1s"
"""
APPLICATION = "org.bench.descriptors"
# A pid, and an instant of the monotonic clock in s.
RECORD = struct.Struct("=id")


class Connection:
    """A connection to the daemon."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)

    def call(self, method, parameters, descriptors=()):
        message = {"method": "org.taskschedd." + method, "parameters": parameters}
        socket.send_fds(self.socket, [json.dumps(message).encode() + b"\0"], list(descriptors))
        answer = b""
        while not answer.endswith(b"\0"):
            part = self.socket.recv(65536)
            if not part:
                raise Failure(f"{method}: the daemon closed the connection")
            answer += part
        return json.loads(answer[:-1])

    def ask(self, method, parameters, descriptors=()):
        answer = self.call(method, parameters, descriptors)
        if "error" in answer:
            raise Failure(f"{method}: {answer}")
        return answer["parameters"]

    def close(self):
        self.socket.close()


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def start_child(body):
    """Forks a child that runs `body` with the writing end of a pipe. Returns its pid and the
    reading end of the pipe."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            os.setsid()
            body(writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return pid, reading


def attack(sockets, children):
    """Starts the process of an application with the given numbers of sockets and children."""
    def body(writing):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        become(ATTACKER)
        kept = [socket.socket(socket.AF_UNIX).detach() for _ in range(sockets)]
        for _ in range(children):
            if os.fork() == 0:
                while True:
                    signal.pause()
        os.write(writing, b"x")
        while kept:
            signal.pause()

    pid, pipe = start_child(body)
    if os.read(pipe, 1) != b"x":
        raise Failure("the attacker did not start")
    os.close(pipe)
    return pid


def watch_calls(path, seconds):
    """Starts the user's calls and connections. Their durations in s arrive on the pipe as JSON."""
    def body(writing):
        become(VICTIM)
        calls, connections = [], []
        own = Connection(path)
        parameters = {"application": "org.bench.none"}
        os.write(writing, b"\n")
        end = time.monotonic() + seconds
        last = 0
        while (start := time.monotonic()) < end:
            own.call("Control.GetApplication", parameters)
            calls.append(time.monotonic() - start)
            if start > last + CONNECT_INTERVAL:
                last = time.monotonic()
                other = Connection(path)
                other.call("Control.GetApplication", parameters)
                connections.append(time.monotonic() - last)
                other.close()
            time.sleep(CALL_INTERVAL)
        os.write(writing, json.dumps([calls, connections]).encode())

    return start_child(body)


def kill_in_time(pipe):
    """Reads pids and times from the pipe, and kills each process at its time. Has the priority of
    the daemon, so it shows the delay that the machine itself causes."""
    os.setpriority(os.PRIO_PROCESS, 0, DAEMON_NICE)
    with os.fdopen(pipe, "rb", buffering=0) as file:
        while record := file.read(RECORD.size):
            pid, due = RECORD.unpack(record)
            time.sleep(max(0, due - time.monotonic()))
            os.kill(pid, signal.SIGKILL)


def paused_child():
    """Forks a child that waits for its end. Returns its pid and pidfd."""
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    return pid, os.pidfd_open(pid)


def watch_limits(path):
    """Starts the user's applications. For each, `kill_in_time` kills another process after the same
    time. The delays of the kills in s arrive on the pipe as JSON: [applications, others]."""
    def body(writing):
        reading, kills = os.pipe()
        if os.fork() == 0:
            os.close(kills)
            kill_in_time(reading)
            os._exit(0)
        os.close(reading)
        become(VICTIM)
        own = Connection(path)
        late = [], []
        watching = []

        def watch(list_of_late, begun, process):
            os.waitid(os.P_PIDFD, process, os.WEXITED)
            list_of_late.append(time.monotonic() - begun - BACKGROUND_SECONDS)

        os.write(writing, b"\n")
        for number in range(LIMITS):
            other, other_process = paused_child()
            _, process = paused_child()
            begun = time.monotonic()
            os.write(kills, RECORD.pack(other, begun + BACKGROUND_SECONDS))
            own.ask("Control.Adopt", {
                "application": f"org.bench.limited{number}", "processFileDescriptor": 0,
                "background": True, "backgroundTask": "work"}, [process])
            for one, kind in ((process, late[0]), (other_process, late[1])):
                watching.append(threading.Thread(target=watch, args=(kind, begun, one)))
                watching[-1].start()
            time.sleep(LIMIT_INTERVAL)
        for thread in watching:
            thread.join()
        os.write(writing, json.dumps(late).encode())

    return start_child(body)


def read_to_end(pipe):
    with os.fdopen(pipe, "rb") as file:
        text = file.read().strip()
    if not text:
        raise Failure("a program of the measurement ended without a result")
    return json.loads(text)


def end_tree(pid):
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def p99(values):
    return sorted(values)[len(values) * 99 // 100]


def measure(bench, sockets=SOCKETS, children=CHILDREN, name="descriptors", settings="",
            seconds=BACKGROUND_SECONDS + 4, rounds=4):
    """Returns a reason if no measurement is possible. Otherwise, returns the figures by name, the
    times in ms."""
    if os.geteuid() != 0:
        return "only root can run processes of two users"
    daemon = bench.daemon(name, SETTINGS + settings)
    os.setpriority(os.PRIO_PROCESS, daemon.pid, DAEMON_NICE)
    # The other users must be able to reach the socket in the benchmark's directory.
    os.chmod(bench.directory, 0o755)
    limits, limits_pipe = watch_limits(daemon.socket)
    os.read(limits_pipe, 1)
    attacker = attack(sockets, children)
    operator = Connection(daemon.socket)
    process = os.pidfd_open(attacker)
    operator.ask("Control.Adopt", {
        "application": APPLICATION, "processFileDescriptor": 0}, [process])
    calls, calls_pipe = watch_calls(daemon.socket, seconds)
    os.read(calls_pipe, 1)
    suspensions = []
    for _ in range(rounds):
        begun = time.monotonic()
        operator.ask("Control.SendToBackground", {"application": APPLICATION})

        def is_suspended():
            state = operator.ask("Control.GetApplication", {"application": APPLICATION})
            return state["application"]["state"] == "suspended"

        wait_until(is_suspended, "the attacker's suspension", 120)
        suspensions.append(time.monotonic() - begun)
        operator.ask("Control.Activate", {"application": APPLICATION})
    call_times, connection_times = read_to_end(calls_pipe)
    late, late_floor = read_to_end(limits_pipe)
    for pid in (calls, limits):
        os.waitpid(pid, 0)
    end_tree(attacker)
    os.close(process)
    operator.close()
    bench.end(daemon.process)
    return {
        "call p99": p99(call_times) * 1000, "call most": max(call_times) * 1000,
        "calls": len(call_times), "connection most": max(connection_times) * 1000,
        "limit most": max(late) * 1000, "limit floor": max(late_floor) * 1000,
        "suspension": max(suspensions) * 1000,
    }


if __name__ == "__main__":
    # descriptors.py DAEMON [SOCKETS CHILDREN [ROUNDS]]
    with Bench("", os.path.abspath(sys.argv[1])) as shop:
        print(json.dumps(measure(
            shop, *map(int, sys.argv[2:4]),
            rounds=int(sys.argv[4]) if len(sys.argv) > 4 else 4), indent=2))
