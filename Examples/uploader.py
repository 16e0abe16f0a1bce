#!/usr/bin/env python3
"""An uploader that continues in the background, and ends its background task when the task expires.
A message is a JSON object and a NUL; see org.taskschedd.Application.varlink."""
import argparse, json, os, socket, threading, time

START = time.clock_gettime(time.CLOCK_BOOTTIME)

def say(text):
    print(f"[{time.clock_gettime(time.CLOCK_BOOTTIME) - START:8.3f} s] {text}", flush=True)

def daemon():
    """Returns the socket of $TASKSCHEDD_SOCKET, of the user's daemon, or of the system's."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    own = f"{runtime}/taskschedd/socket"
    return os.environ.get("TASKSCHEDD_SOCKET") or (
        own if os.path.exists(own) else "/run/taskschedd/socket")

class Connection:
    def __init__(self):
        self.socket, self.buffer, self.lock = socket.socket(socket.AF_UNIX), b"", threading.Lock()
        self.socket.connect(daemon())

    def send(self, method, parameters, **flags):
        call = {"method": f"org.taskschedd.Application.{method}", "parameters": parameters, **flags}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive(self):
        while b"\0" not in self.buffer:
            self.buffer += self.socket.recv(4096) or os._exit(say("taskschedd has closed the connection") or 3)
        message, self.buffer = self.buffer.split(b"\0", 1)
        reply = json.loads(message)
        assert "error" not in reply, reply
        return reply.get("parameters", {})

    def call(self, method, **parameters):
        with self.lock:  # one call at a time, because answers carry no id of the call
            self.send(method, parameters)
            return self.receive()

def end_tasks():
    while tasks:
        calls.call("EndBackgroundTask", task=tasks.pop())

def upload(destination):
    for number in range(1, args.chunks + 1):
        uploading.wait()
        destination.write(b"chunk %d\n" % number)
        time.sleep(0.2)
    say(f"all {args.chunks} chunks are uploaded")
    os._exit(end_tasks() or 0)

def handle(kind):
    say(f"callback: {kind}")
    if kind in ("didBecomeActive", "willEnterForeground"):
        end_tasks()
        uploading.set()
    elif kind == "didEnterBackground":
        grant = calls.call("BeginBackgroundTask", name="upload")
        tasks.append(grant["task"])
        left = grant.get("backgroundTimeRemainingUSec")
        remaining = "unlimited" if left is None else f"{left / 1e6:.1f} s remain"
        say(f"task {tasks[-1]} granted, {remaining}")

parser = argparse.ArgumentParser()
parser.add_argument("--stubborn", action="store_true", help="never stop, never end the task")
parser.add_argument("--chunks", type=int, default=100)
parser.add_argument("target", help="a file, or tcp:PORT for a port of this machine")
args = parser.parse_args()
if args.target.startswith("tcp:"):
    target = socket.create_connection(("127.0.0.1", int(args.target[4:]))).makefile("wb", 0)
else:
    target = open(args.target, "ab", 0)
tasks, uploading, calls, events = [], threading.Event(), Connection(), Connection()
threading.Thread(target=upload, args=[target], daemon=True).start()
events.send("Register", {"application": "org.example.uploader"}, more=True)
while event := events.receive():
    if event.get("registered"):
        say(f"registered: {event['registered']['state']}")
    elif callback := event.get("callback"):
        handle(callback["kind"])
        calls.call("Acknowledge", callback=callback["id"])
    elif event.get("expiration"):
        say(f"task {event['expiration']['task']} expires")
        if not args.stubborn:
            uploading.clear()
            end_tasks()
