#!/usr/bin/env python3
"""A user that attacks the daemon until it is killed.

attacker.py KIND SOCKET UID COUNT

KIND is one of these:
  oneway    COUNT connections. The attacker fills the socket of each with oneway calls, repeatedly.
  silent    COUNT connections. The attacker fills the socket of each with oneway calls, once.
  unread    COUNT connections with calls whose long answers the attacker does not read.
  large     calls of 1 MiB, one after another. The attacker measures the first COUNT calls.
  monitors  COUNT monitors of an application that begins and ends tasks.
  typos     calls with an id that is similar to COUNT other long ids.

The attacker prints one line of JSON when the attack is in progress.
"""

import json
import os
import resource
import selectors
import sys
import time

from attacker_messages import (
    APPLICATION, CONTROL, begin, connect, message, receive, register)


def begun(**facts):
    print(json.dumps(facts), flush=True)


def fill(connection, calls):
    """Sends the calls repeatedly until the socket accepts no more data. Returns False if the daemon
    has closed the connection."""
    try:
        while True:
            connection.send(calls)
    except BlockingIOError:
        return True
    except (BrokenPipeError, ConnectionResetError):
        return False


def oneway(path, count, fills_again):
    calls = message(CONTROL + "ListApplications", oneway=True) * 20
    selector = selectors.DefaultSelector()
    refused = 0
    for _ in range(count):
        connection = connect(path)
        connection.setblocking(False)
        if fill(connection, calls):
            selector.register(connection, selectors.EVENT_WRITE)
        else:
            refused += 1
    begun(refused=refused)
    while not fills_again:
        time.sleep(1000)
    while True:
        for key, _ in selector.select():
            if not fill(key.fileobj, calls):
                selector.unregister(key.fileobj)


def unread(path, count):
    interface = {"interface": "org.taskschedd.Control"}
    calls = message("org.varlink.service.GetInterfaceDescription", interface) * 30
    connections = []
    for _ in range(count):
        connections.append(connect(path))
        connections[-1].sendall(calls)
    begun()
    time.sleep(1000)


def large(path, count):
    calls = connect(path)
    call = message(APPLICATION + "BeginBackgroundTask", {"name": ""})
    call = call.replace(b'""', b'"' + b"x" * ((1 << 20) - len(call)) + b'"')
    times = []
    while True:
        start = time.monotonic()
        calls.sendall(call)
        receive(calls)
        times.append(time.monotonic() - start)
        if len(times) == count:
            begun(milliseconds=sorted(times)[count // 2] * 1000)


def monitors(path, count):
    events, callback = register(path, "org.test.watched")
    calls = connect(path)
    begin(calls, callback)
    watching, refused = [events], 0
    for _ in range(count):
        connection = connect(path)
        connection.sendall(message(CONTROL + "Monitor", more=True))
        if "error" in receive(connection):
            refused += 1
            connection.close()
        else:
            watching.append(connection)
    for connection in watching:
        connection.setblocking(False)
    begun(refused=refused)
    while True:
        calls.sendall(message(APPLICATION + "BeginBackgroundTask"))
        task = receive(calls)["parameters"]["task"]
        calls.sendall(message(APPLICATION + "EndBackgroundTask", {"task": task}))
        receive(calls)
        for connection in watching:
            try:
                while connection.recv(1 << 16):
                    pass
            except BlockingIOError:
                pass


def typos(path, count):
    names = [f"org.test.{'a' * 225}{index:08}" for index in range(count)]
    for name in names:
        reading, writing = os.pipe()
        if os.fork() == 0:
            events, callback = register(path, name)
            begin(connect(path), callback)
            os.write(writing, b".")
            while events.recv(1 << 16):
                pass
            os._exit(0)
        os.close(writing)
        os.read(reading, 1)
    calls = [connect(path) for _ in range(16)]
    mistyped = f"org.test.{'b' * 100}{'a' * 125}00000001"
    call = message(CONTROL + "GetApplication", {"application": mistyped})
    begun()
    while True:
        for connection in calls:
            connection.sendall(call)
        for connection in calls:
            receive(connection)


def main():
    kind, path, uid, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if kind in ("oneway", "silent"):
        oneway(path, count, kind == "oneway")
    else:
        kinds = {"unread": unread, "large": large, "monitors": monitors, "typos": typos}
        kinds[kind](path, count)


main()
