"""A user's connections to the daemon, driven by lines on standard input.

usage: other_user.py SOCKET

Answers each line with one line of JSON:

    open                    opens a connection, and prints its number; numbers count from 0
    call N METHOD JSON      calls a method on connection N, and prints the reply
    more N METHOD JSON      calls a method with `more`, and prints the first reply
    next N                  prints the next reply
    write N COUNT           writes COUNT bytes of an unfinished message, waits until the daemon has
                            read them, and prints `{}`
    close N                 closes connection N, and prints `{}`

For a connection that the daemon has closed, a reply is `{"closed": true}`.
"""
import json, os, select, socket, sys

connections, buffers = [], []


def receive(number):
    while b"\0" not in buffers[number]:
        try:
            data = connections[number].recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            return {"closed": True}
        buffers[number] += data
    message, buffers[number] = buffers[number].split(b"\0", 1)
    return json.loads(message)


def send(number, data):
    try:
        connections[number].sendall(data)
    except ConnectionError:
        # Not an error: the test can still read the last message that the daemon sent before it
        # closed the connection.
        pass


for line in sys.stdin:
    words = line.split(None, 3)
    answer = None
    if words[0] == "open":
        connections.append(socket.socket(socket.AF_UNIX))
        # A small buffer, because poll(2) reports no room while more than a quarter of the buffer is
        # occupied. The kernel doubles the size.
        connections[-1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 40_000)
        connections[-1].connect(sys.argv[1])
        buffers.append(b"")
        answer = len(connections) - 1
    elif words[0] in ("call", "more"):
        message = {"method": words[2], "parameters": json.loads(words[3])}
        if words[0] == "more":
            message["more"] = True
        send(int(words[1]), json.dumps(message).encode() + b"\0")
        answer = receive(int(words[1]))
    elif words[0] == "next":
        answer = receive(int(words[1]))
    elif words[0] == "write":
        send(int(words[1]), b" " * int(words[2]))
        poll = select.poll()
        poll.register(connections[int(words[1])], select.POLLOUT)
        poll.poll()
        answer = {}
    elif words[0] == "close":
        connections[int(words[1])].close()
        answer = {}
    os.write(1, f"{json.dumps(answer)}\n".encode())
