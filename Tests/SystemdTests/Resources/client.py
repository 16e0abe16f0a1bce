"""An application that speaks the protocol by hand, on connections that it never reopens.

It registers, begins a task, and reads commands from its standard input:

    half, rest           sends the first or second half of the message that ends the task
    large, finish        sends the first or second part of a message that is larger than any socket
    begin N              begins and ends N tasks; prints the answer to the last begin
    status               calls GetStatus
    acknowledge ID       acknowledges a callback
    event                waits for the next event
    call METHOD JSON     calls a method
    keepalive SECONDS    sets its keep-alive handler
    connect PATH         connects to PATH, and passes the connection to the daemon
    read                 reads from that connection
    snapshot SIZE        sets a snapshot of SIZE bytes
    picture              prints the size of the picture that the daemon has

It answers each command with a line: the message or data that it receives, `closed` for a closed
connection, or `half` after the first part of a message.
"""
import json
import os
import socket
import struct
import sys
import zlib

ID = sys.argv[1]
SOCKET = "/run/taskschedd/socket"


class Line:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)
        self.buffer = b""

    def send(self, method, parameters, **flags):
        self.socket.sendall(self.message(method, parameters, **flags))

    @staticmethod
    def message(method, parameters, **flags):
        call = {"method": "org.taskschedd." + method, "parameters": parameters, **flags}
        return json.dumps(call).encode() + b"\0"

    def receive(self):
        while b"\0" not in self.buffer:
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            if not data:
                return "closed"
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return message.decode()


def png(size):
    def chunk(name, data):
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 6, 0, 0, 0))
    end = chunk(b"IEND", b"")
    return head + chunk(b"IDAT", bytes(size - len(head) - len(end) - 12)) + end


def picture():
    calls.send("Control.GetSnapshot", {"application": ID})
    answer, files, _, _ = socket.recv_fds(calls.socket, 65536, 1)
    parameters = json.loads(answer[:-1])["parameters"]
    if not files:
        return "none"
    data = os.pread(files[0], 1 << 21, 0)
    os.close(files[0])
    return str(len(data)) if data == png(parameters["size"]) else "another picture"


def say(text):
    print(text, flush=True)


stream, calls = Line(), Line()
stream.send("Application.Register", {"application": ID}, more=True)
say(stream.receive())
calls.send("Application.BeginBackgroundTask", {"name": "work"})
answer = calls.receive()
say(answer)
task = json.loads(answer)["parameters"]["task"]
whole = Line.message("Application.EndBackgroundTask", {"task": task})
for line in sys.stdin:
    words = line.split()
    if words[0] == "half":
        # Sends single bytes, so that the daemon, which is about to be killed, receives some of
        # them.
        for byte in whole[: len(whole) // 2]:
            calls.socket.sendall(bytes([byte]))
        say("half")
    elif words[0] == "rest":
        calls.socket.sendall(whole[len(whole) // 2:])
        say(calls.receive())
    elif words[0] == "large":
        # The message is much larger than a socket buffer, so the daemon must collect its parts.
        large = Line.message("Application.BeginBackgroundTask", {"name": "x" * 400_000})
        calls.socket.sendall(large[:300_000])
        rest = large[300_000:]
        say("half")
    elif words[0] == "finish":
        calls.socket.sendall(rest)
        say(calls.receive())
    elif words[0] == "begin":
        for _ in range(int(words[1])):
            calls.send("Application.BeginBackgroundTask", {"name": "work"})
            answer = json.loads(calls.receive())
            if "error" in answer:
                break
            calls.send("Application.EndBackgroundTask", {"task": answer["parameters"]["task"]})
            calls.receive()
        say(json.dumps(answer))
    elif words[0] == "status":
        calls.send("Application.GetStatus", {})
        say(calls.receive())
    elif words[0] == "acknowledge":
        calls.send("Application.Acknowledge", {"callback": int(words[1])})
        say(calls.receive())
    elif words[0] == "event":
        say(stream.receive())
    elif words[0] == "call":
        calls.send(words[1], json.loads(line.split(None, 2)[2]))
        say(calls.receive())
    elif words[0] == "keepalive":
        calls.send("Application.SetKeepAliveTimeout", {"seconds": float(words[1])})
        say(calls.receive())
    elif words[0] == "connect":
        managed = socket.socket(socket.AF_UNIX)
        managed.connect(words[1])
        message = Line.message("Application.ManageSocket", {"socketFileDescriptor": 0})
        socket.send_fds(calls.socket, [message], [managed.fileno()])
        say(calls.receive())
    elif words[0] == "snapshot":
        file = os.memfd_create("snapshot")
        os.write(file, png(int(words[1])))
        message = Line.message("Application.SetSnapshot", {"snapshotFileDescriptor": 0})
        socket.send_fds(calls.socket, [message], [file])
        os.close(file)
        say(calls.receive())
    elif words[0] == "picture":
        say(picture())
    elif words[0] == "read":
        say(managed.recv(65536).decode())
