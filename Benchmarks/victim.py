#!/usr/bin/env python3
"""A user that needs the daemon while another user attacks it. Measures how long this user waits.

victim.py SOCKET UID LIMITS SECONDS

The program starts LIMITS applications in the background, each with a task, and prints "ready".
Then, for SECONDS, it repeatedly makes a call on an open connection and a call on a new connection.
It also measures how late the daemon kills each application at its limit. It prints each wait as a
line of JSON with its kind, its time (CLOCK_BOOTTIME) and its duration in seconds.
"""

import json
import os
import select
import signal
import sys
import threading
import time

from attacker_messages import begin, connect, message, receive, register

SPACING = 0.05


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Waits:
    """The waits that all threads have measured."""

    def __init__(self):
        self.lines = []

    def add(self, what, start, seconds):
        self.lines.append({"what": what, "at": start, "seconds": seconds})


def application(path, index):
    """Starts a child that registers and begins a task. Returns its pidfd and the time of its
    limit."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        events, callback = register(path, f"org.test.victim{index}")
        calls = connect(path)
        asked = now()
        left = begin(calls, callback)
        os.write(writing, f"{asked + left}".encode())
        while events.recv(1 << 16):
            pass
        signal.pause()
    os.close(writing)
    limit = float(os.read(reading, 64))
    os.close(reading)
    return os.pidfd_open(pid), limit


def call(path, waits, end):
    connection = connect(path)
    while now() < end:
        start = now()
        connection.sendall(message("org.varlink.service.GetInfo"))
        receive(connection)
        waits.add("call", start, now() - start)
        time.sleep(0.002)


def connect_anew(path, waits, end):
    while now() < end:
        start = now()
        with connect(path) as connection:
            connection.sendall(message("org.varlink.service.GetInfo"))
            receive(connection)
        waits.add("connection", start, now() - start)
        time.sleep(0.01)


def see_limits(applications, waits, end):
    limits = dict(applications)
    poll = select.poll()
    for descriptor in limits:
        poll.register(descriptor, select.POLLIN)
    while limits and now() < end:
        for descriptor, _ in poll.poll(100):
            limit = limits.pop(descriptor)
            poll.unregister(descriptor)
            waits.add("limit", limit, now() - limit)
    for limit in limits.values():
        if limit < end:
            waits.add("limit", limit, end - limit)


def main():
    path, uid, count, seconds = sys.argv[1], *map(int, sys.argv[2:5])
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    applications = []
    for index in range(count):
        applications.append(application(path, index))
        time.sleep(SPACING)
    print("ready", flush=True)
    waits, end = Waits(), now() + seconds
    threads = [
        threading.Thread(target=call, args=(path, waits, end)),
        threading.Thread(target=connect_anew, args=(path, waits, end)),
        threading.Thread(target=see_limits, args=(applications, waits, end)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in waits.lines:
        print(json.dumps(line))


main()
