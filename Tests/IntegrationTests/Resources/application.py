"""An application for tests, driven by lines on its standard input.

usage: application.py SOCKET ID [FLAG…]

It registers, prints `event JSON` for each event, and acknowledges each callback. Flags:
    background              registers in the background
    manual                  acknowledges nothing
    silent                  does not register
    sleeper                 does not acknowledge the calls of its keep-alive handler
    drain                   at a socket event: reads all data of each ready socket, prints
                            `read JSON`, sends back one byte if there was data, and acknowledges

    call METHOD JSON        answered by `answer JSON`
    pipeline M1 J1 M2 J2    two calls in one write, answered by two `answer` lines
    raw TEXT                sends a message unchanged; answered by `answer JSON`
    connect ADDRESS         connects to HOST:PORT or a path and passes the socket; answered by
                            `answer JSON`; connections count from 0
    hand WHAT               passes connection WHAT again, or an unsuitable descriptor of the kind
                            WHAT; answered by `answer JSON`
    snapshot WHAT           sets a snapshot; answered by `answer JSON`. WHAT is the size of a PNG
                            image in bytes, or says what is wrong with it
    flood N                 sets N snapshots without waiting for the answers in between; answered by
                            the last answer
    read N                  reads the available data of connection N; answered by `read JSON`
    urgent N                reads the urgent byte; answered by `read JSON`
    close N                 closes connection N; answered by `answer {}`
    stream ID               opens the event stream on one more connection
    fork METHOD JSON        as `call`, by a child, which continues to run; prints `written {}` when
                            the call is in its socket, and `child PID`
    behind N METHOD JSON    as `call`, in one write after N calls without a reply; prints
                            `written {}` when all calls are in the socket
    drop                    closes the event stream
    reconnect               reconnects after the daemon's end, and opens the event stream
    lock PATH, unlock       takes or releases a lock of flock(2); answered by `answer {}`
    exit CODE, abort        ends
"""
import fcntl, json, os, select, socket, struct, sys, threading, zlib

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
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                return {"closed": True}
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def exchange(self, *requests, written=lambda: None):
        with self.lock:
            self.socket.sendall(b"".join(encoded(*request) for request in requests))
            written()
            return [self.receive() for _ in requests]

    def send(self, message, descriptors=()):
        with self.lock:
            socket.send_fds(self.socket, [message], descriptors)
            return self.receive()


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
            if callback["kind"] != "keepAlive" or "sleeper" not in flags:
                acknowledge(callback)
        woken_by = event.get("parameters", {}).get("socketEvent")
        if woken_by and "drain" in flags:
            for ready in woken_by["sockets"]:
                number = cookies[ready["socket"]]
                if read(number)["text"]:
                    answer_byte(number)
            acknowledge(woken_by)


def acknowledge(event):
    calls.exchange(("org.taskschedd.Application.Acknowledge", {"callback": event["id"]}))


def answer_byte(number):
    try:
        connections[number].send(b"+")
    except OSError:
        pass


def read(number, flags=0):
    """Reads the available data without waiting for more."""
    result = {"socket": number, "text": "", "end": False, "error": None}
    try:
        while not result["end"]:
            data = connections[number].recv(65536, socket.MSG_DONTWAIT | flags)
            result["text"] += data.decode()
            result["end"] = not data
            if flags:
                break
    except BlockingIOError:
        pass
    except OSError as error:
        result["error"] = error.strerror
    say("read", result)
    return result


def hand_over(*descriptors, index=0):
    method = "org.taskschedd.Application.ManageSocket"
    answer = calls.send(encoded(method, {"socketFileDescriptor": index}), descriptors)
    say("answer", answer)
    return answer.get("parameters", {}).get("socket")


def connect(address):
    host, _, port = address.rpartition(":")
    if host:
        connection = socket.create_connection((host, int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
    return connection


def hand_over_what_is_none(what):
    one, other = socket.socketpair()
    if what == "file":
        with open("/etc/passwd") as file:
            hand_over(file.fileno())
    elif what == "listening":
        with socket.create_server(("127.0.0.1", 0)) as listener:
            hand_over(listener.fileno())
    elif what == "datagram":
        with socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0] as datagram:
            hand_over(datagram.fileno())
    elif what == "packets":
        with socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0] as packets:
            hand_over(packets.fileno())
    elif what == "unconnected":
        with socket.socket() as unconnected:
            hand_over(unconnected.fileno())
    elif what == "path":
        number = os.open("/", os.O_PATH)
        hand_over(number)
        os.close(number)
    elif what == "pipe":
        reading, writing = os.pipe()
        hand_over(reading)
        os.close(reading)
        os.close(writing)
    elif what == "epoll":
        with select.epoll() as epoll:
            hand_over(epoll.fileno())
    elif what == "own":
        hand_over(calls.socket.fileno())
    elif what == "events":
        hand_over(events.socket.fileno())
    elif what == "two":
        hand_over(one.fileno(), other.fileno(), index=2)
    elif what == "negative":
        hand_over(one.fileno(), index=-1)
    elif what == "none":
        hand_over()
    else:
        hand_over(connections[int(what)].fileno())


def png(size):
    """Returns a PNG image of 3 x 2 pixels with this size in bytes."""
    def chunk(name, data):
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 6, 0, 0, 0))
    end = chunk(b"IEND", b"")
    return head + chunk(b"IDAT", bytes(size - len(head) - len(end) - 12)) + end


def memory_file(data):
    number = os.memfd_create("snapshot")
    os.write(number, data)
    return number


def snapshot_message(descriptor=0, sensitive=False):
    method = "org.taskschedd.Application.SetSnapshot"
    return encoded(method, {"snapshotFileDescriptor": descriptor, "sensitive": sensitive})


def set_snapshot(what):
    image, index, numbers = png(200), 0, []
    if what.isdigit():
        numbers = [memory_file(png(int(what)))]
    elif what in ("remove", "sensitive"):
        index = None
    elif what == "sensitive image":
        numbers = [memory_file(image)]
    elif what == "none":
        pass
    elif what == "two":
        numbers = [memory_file(image), memory_file(image)]
    elif what == "pipe":
        numbers = list(os.pipe())
    elif what == "writing":
        file = memory_file(image)
        numbers = [os.open(f"/proc/self/fd/{file}", os.O_WRONLY)]
        os.close(file)
    elif what == "sparse":
        numbers = [memory_file(image)]
        os.truncate(numbers[0], 1 << 40)
    elif what in ("/", "/dev/zero", "/etc/passwd"):
        numbers = [os.open(what, os.O_RDONLY)]
    elif what == "path":
        numbers = [os.open("/dev/shm", os.O_PATH)]
    else:
        data = {"empty": b"", "text": b"text", "truncated": image[:-1], "longer": image + b"x",
                "changed": image}[what]
        numbers = [memory_file(data)]
    message = snapshot_message(index, what.startswith("sensitive"))
    # Passes only one end of a pipe.
    passed = numbers[:1] if what == "pipe" else numbers
    say("answer", calls.send(message, passed))
    if what == "changed":
        os.pwrite(numbers[0], b"something else", 0)
        os.truncate(numbers[0], 20)
    for number in numbers:
        os.close(number)


def flood(count):
    files = [memory_file(png(1000 + size)) for size in range(4)]
    answers = Connection()
    reader = threading.Thread(target=lambda: say("answer", [
        answers.receive() for _ in range(count)][-1]))
    reader.start()
    for number in range(count):
        socket.send_fds(answers.socket, [snapshot_message()], [files[number % 4]])
    reader.join()


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
connections, cookies = [], {}
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
    elif words[0] == "raw":
        say("answer", calls.send(line.split(None, 1)[1].rstrip("\n").encode() + b"\0"))
    elif words[0] == "connect":
        connections.append(connect(words[1]))
        cookie = struct.unpack("Q", connections[-1].getsockopt(socket.SOL_SOCKET, 57, 8))[0]
        cookies[cookie] = len(connections) - 1
        hand_over(connections[-1].fileno())
    elif words[0] == "hand":
        hand_over_what_is_none(words[1])
    elif words[0] == "snapshot":
        set_snapshot(line.split(None, 1)[1].strip())
    elif words[0] == "flood":
        flood(int(words[1]))
    elif words[0] == "read":
        read(int(words[1]))
    elif words[0] == "urgent":
        read(int(words[1]), socket.MSG_OOB)
    elif words[0] == "close":
        connections[int(words[1])].close()
        say("answer", {})
    elif words[0] == "lock":
        locked = os.open(words[1], os.O_RDWR)
        fcntl.flock(locked, fcntl.LOCK_EX)
        say("answer", {})
    elif words[0] == "unlock":
        os.close(locked)
        say("answer", {})
    elif words[0] == "stream":
        events = stream(words[1], False, "manual" not in flags)
    elif words[0] == "reconnect":
        calls = Connection()
        events = stream(sys.argv[2], False, "manual" not in flags)
    elif words[0] == "drop":
        events.socket.shutdown(socket.SHUT_RDWR)
    elif words[0] == "fork":
        # The child uses a new connection, so that the daemon sees the child's pid as the peer of
        # the socket.
        pid = os.fork()
        if pid == 0:
            # A thread of the parent may have held the lock at the fork, and would never release the
            # child's copy.
            write_lock = threading.Lock()
            calls = Connection()
            call = (words[1], json.loads(line.split(None, 2)[2]))
            for answer in calls.exchange(call, written=lambda: say("written", {})):
                say("answer", answer)
            while True:
                os.read(0, 0)
                threading.Event().wait()
        say("child", pid)
    elif words[0] == "behind":
        query = encoded("org.taskschedd.Application.GetStatus", {}, oneway=True)
        call = encoded(words[2], json.loads(line.split(None, 3)[3]))
        with calls.lock:
            calls.socket.sendall(query * int(words[1]) + call)
            say("written", {})
            say("answer", calls.receive())
    elif words[0] == "exit":
        os._exit(int(words[1]))
    elif words[0] == "abort":
        os.abort()
