"""The messages that the attacker and the victim exchange with the daemon."""

import json
import socket
import sys

APPLICATION = "org.taskschedd.Application."
CONTROL = "org.taskschedd.Control."


def message(method, parameters=None, **flags):
    return json.dumps({"method": method, "parameters": parameters or {}, **flags}).encode() + b"\0"


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def receive(connection):
    """Returns the next answer, and discards data that arrives with it."""
    answer = b""
    while b"\0" not in answer:
        part = connection.recv(1 << 16)
        if not part:
            sys.exit("the daemon closed the connection")
        answer += part
    return json.loads(answer[:answer.index(b"\0")])


def register(path, application):
    """Registers an application. Returns the event stream and the id of its first callback."""
    events = connect(path)
    events.sendall(message(
        APPLICATION + "Register", {"application": application, "background": True}, more=True))
    answer = b""
    while answer.count(b"\0") < 2:
        part = events.recv(1 << 16)
        if not part or b'"error"' in part:
            sys.exit(f"{application} was not registered")
        answer += part
    callback = json.loads(answer.split(b"\0")[1])["parameters"]["callback"]["id"]
    return events, callback


def begin(connection, callback):
    """Begins a task, acknowledges the launch, and returns the remaining background time in s."""
    connection.sendall(message(APPLICATION + "BeginBackgroundTask"))
    left = receive(connection)["parameters"]["backgroundTimeRemainingUSec"] / 1e6
    connection.sendall(message(APPLICATION + "Acknowledge", {"callback": callback}))
    receive(connection)
    return left
