"""An application for tests, driven by lines on its standard input.

usage: application.py SOCKET ID [background] [manual]

It registers, says `event JSON` for each event, and acknowledges each callback unless `manual`.
    call METHOD JSON        answered by `answer JSON`
    pipeline M1 J1 M2 J2    two calls in one write, answered by two `answer` lines
    stream ID               opens the event stream on one more connection
    drop                    closes the event stream
    exit CODE, abort        ends
"""
import json, os, socket, sys, threading

write_lock = threading.Lock()


def say(word, value):
    with write_lock:
        os.write(1, f"{word} {json.dumps(value)}\n".encode())


class Connection:
    def __init__(self):
        self.socket, self.buffer, self.lock = socket.socket(socket.AF_UNIX), b"", threading.Lock()
        self.socket.connect(sys.argv[1])

    def receive(self):
        while b"\0" not in self.buffer:
            data = self.socket.recv(65536)
            if not data:
                return {"closed": True}
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def exchange(self, *requests):
        with self.lock:
            self.socket.sendall(b"".join(encoded(*request) for request in requests))
            return [self.receive() for _ in requests]


def encoded(method, parameters, **flags):
    return json.dumps({"method": method, "parameters": parameters, **flags}).encode() + b"\0"


def listen(events, acknowledges):
    while True:
        event = events.receive()
        say("event", event)
        if event.get("closed") or event.get("error"):
            return
        callback = event.get("parameters", {}).get("callback")
        if callback and acknowledges:
            calls.exchange(("org.taskschedd.Application.Acknowledge", {"callback": callback["id"]}))


def stream(application, background, acknowledges):
    events = Connection()
    parameters = {"application": application}
    if background:
        parameters["background"] = True
    events.socket.sendall(encoded("org.taskschedd.Application.Register", parameters, more=True))
    thread = threading.Thread(target=listen, args=(events, acknowledges), daemon=True)
    thread.start()
    return events


calls = Connection()
flags = sys.argv[3:]
events = None
if "silent" not in flags:
    events = stream(sys.argv[2], "background" in flags, "manual" not in flags)
for line in sys.stdin:
    words = line.split()
    if words[0] == "call":
        for answer in calls.exchange((words[1], json.loads(line.split(None, 2)[2]))):
            say("answer", answer)
    elif words[0] == "pipeline":
        pairs = list(zip(words[1::2], map(json.loads, words[2::2])))
        for answer in calls.exchange(*pairs):
            say("answer", answer)
    elif words[0] == "stream":
        events = stream(words[1], False, "manual" not in flags)
    elif words[0] == "drop":
        events.socket.shutdown(socket.SHUT_RDWR)
    elif words[0] == "fork":
        # The child's own connection, so that the socket names the child.
        pid = os.fork()
        if pid == 0:
            # Another thread may have held the lock.
            write_lock = threading.Lock()
            calls = Connection()
            for answer in calls.exchange((words[1], json.loads(line.split(None, 2)[2]))):
                say("answer", answer)
            while True:
                os.read(0, 0)
                threading.Event().wait()
        say("child", pid)
    elif words[0] == "exit":
        os._exit(int(words[1]))
    elif words[0] == "abort":
        os.abort()
