"""A client that uses only what org.taskschedd.Application.varlink says. Its argument is SOCKET."""
import json, socket, sys

class Peer:
    def __init__(self):
        self.socket, self.rest = socket.socket(socket.AF_UNIX), b""
        self.socket.connect(sys.argv[1])
    def send(self, method, more=False, **parameters):
        call = {"method": "org.taskschedd.Application." + method, "parameters": parameters}
        self.socket.sendall(json.dumps({**call, "more": more}).encode() + b"\0")
    def receive(self):
        while b"\0" not in self.rest:
            self.rest += self.socket.recv(4096)
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)["parameters"]

events, calls = Peer(), Peer()
events.send("Register", more=True, application="org.example.independent")
while event := events.receive():
    if callback := event.get("callback"):
        if callback["kind"] == "didEnterBackground":
            calls.send("BeginBackgroundTask", name="save")
            print("began", calls.receive()["task"], flush=True)
        calls.send("Acknowledge", callback=callback["id"])
        calls.receive()
    elif expiration := event.get("expiration"):
        print("warned", expiration["task"], flush=True)
        calls.send("EndBackgroundTask", task=expiration["task"])
