"""The session of a user with audio: a bus, an audio server without a sound device, a daemon and the
session agent."""

import json
import os
import select
import socket
import subprocess
import time
import wave

from harness import BUS_CONFIGURATION, Failure, START_SECONDS, wait_until

SERVERS = ("pulseaudio", "pipewire")
# The plug-in of Debian's package mpv-mpris, and the name that it owns on the bus.
MPRIS = "/usr/lib/mpv-mpris/mpris.so"
MPV_NAME = "org.mpris.MediaPlayer2.mpv"
# The length of the music in seconds. It is longer than a measurement, because a player that begins
# again may change its stream.
MUSIC_SECONDS = 1800
MUSIC_RATE = 8000
NULL_SINK = """context.objects = [ { factory = adapter args = {
  factory.name = support.null-audio-sink node.name = "null" media.class = Audio/Sink
  audio.position = [ FL FR ] object.linger = true } } ]
"""


class Conversation:
    """A process that prints "ready", and then a number for each command and each event."""

    def __init__(self, process):
        self.process = process
        self.received = b""
        if self.line() != "ready":
            raise Failure(f"{process.args[0]} did not start: see above")

    def line(self):
        limit = time.monotonic() + START_SECONDS
        while b"\n" not in self.received:
            left = max(0, limit - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise Failure(f"{self.process.args[0]}: no output within {START_SECONDS} s")
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                raise Failure(f"{self.process.args[0]} has ended: see above")
            self.received += part
        line, self.received = self.received.split(b"\n", 1)
        return line.decode()

    def ask(self, command):
        """Sends a command. Returns the number that the process answers."""
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        return int(self.line())

    def number_from(self, least):
        """Returns the next printed number that is at least `least`."""
        while (number := int(self.line())) < least:
            pass
        return number


class Monitor:
    """A monitor of one application. Its times are in nanoseconds since boot."""

    def __init__(self, daemon, application):
        self.received = b""
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(START_SECONDS)
        self.connection.connect(daemon.socket)
        self.connection.sendall(json.dumps({
            "method": "org.taskschedd.Control.Monitor", "more": True,
            "parameters": {"application": application}}).encode() + b"\0")
        while "ready" not in self.next():
            pass

    def next(self):
        while b"\0" not in self.received:
            try:
                part = self.connection.recv(65536)
            except TimeoutError as error:
                raise Failure(f"the monitor: nothing within {START_SECONDS} s") from error
            if not part:
                raise Failure("the daemon closed the connection of the monitor")
            self.received += part
        message, self.received = self.received.split(b"\0", 1)
        message = json.loads(message)
        if "error" in message:
            raise Failure(f"Monitor: {message}")
        return {key: value for key, value in message["parameters"].items() if value is not None}

    def change_from(self, least, kind):
        """Returns the instant of the next change of a kind that is not before `least`."""
        while True:
            change = self.next().get("change", {})
            # The daemon reports whole microseconds.
            if change.get("kind") == kind and change["atUSec"] >= least // 1000:
                return change["atUSec"] * 1000

    def close(self):
        self.connection.close()


class Session:
    """The processes of a session. Bench ends them if a measurement fails."""

    def __init__(self, bench, name, server, agent, settings="", manifests=()):
        self.bench = bench
        self.processes = []
        self.directory = bench.path(name)
        self.bus = f"unix:path={self.directory}/bus"
        os.makedirs(self.directory, 0o700)
        os.mkdir(os.path.join(self.directory, "pulse"), 0o700)
        self.audio = os.path.join(self.directory, "pulse/native")
        # Without DISPLAY, no program looks for a bus or an audio server of the desktop.
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.directory, "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": self.directory, "DBUS_SESSION_BUS_ADDRESS": self.bus,
            "PULSE_SERVER": f"unix:{self.audio}"}
        self.start_bus(name)
        if server == "pipewire":
            self.start_pipewire(name)
        else:
            self.start_pulseaudio()
        wait_until(self.has_sink, f"the sink of {server}")
        self.daemon = bench.daemon(name, settings, manifests)
        self.processes.append(self.daemon.process)
        self.agent = self.start([agent, "--socket", self.daemon.socket])

    def start(self, arguments, **options):
        with open(os.path.join(self.directory, "log"), "ab") as log:
            process = self.bench.start(
                arguments, env=self.environment, cwd="/",
                **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **options})
        self.processes.append(process)
        return process

    def converse(self, arguments):
        return Conversation(self.start(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None))

    def end(self):
        while self.processes:
            self.bench.end(self.processes.pop())

    def end_process(self, process):
        self.processes.remove(process)
        self.bench.end(process)

    def start_bus(self, name):
        path = os.path.join(self.directory, "bus")
        configuration = self.bench.write(f"{name}/bus.conf", BUS_CONFIGURATION.format(path=path))
        self.bench.wait_for_socket(
            self.start(["dbus-daemon", "--nofork", f"--config-file={configuration}"]), path)

    def start_pulseaudio(self):
        self.start([
            "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
            "-L", "module-null-sink sink_name=null", "-L", "module-stream-restore",
            "-L", f"module-native-protocol-unix socket={self.audio}"])

    def start_pipewire(self, name):
        configuration = f"{name}/.config"
        self.bench.write(f"{configuration}/pipewire/pipewire.conf.d/null.conf", NULL_SINK)
        for directory, kind in (("bluetooth", "bluez"), ("main", "alsa")):
            self.bench.write(
                f"{configuration}/wireplumber/{directory}.lua.d/90-off.lua",
                f"{kind}_monitor.enabled = false\n")
        # WirePlumber ends if it cannot connect to PipeWire at its start.
        self.bench.wait_for_socket(
            self.start(["pipewire"]), os.path.join(self.directory, "pipewire-0"))
        self.start(["wireplumber"])
        self.start(["pipewire-pulse"])

    def has_sink(self):
        found = subprocess.run(
            ["pactl", "get-default-sink"], env=self.environment, capture_output=True, check=False)
        return b"null" in found.stdout

    def start_mpv(self):
        """Starts a player that plays music, and is a media player on the bus."""
        music = self.bench.path("music.wav")
        if not os.path.exists(music):
            write_music(music)
        return self.start([
            "mpv", "--no-config", "--really-quiet", "--no-video", "--ao=pulse", "--loop-file=inf",
            f"--script={MPRIS}", music])

    def audio_of(self, application):
        instance = self.daemon.application(application)["instance"]
        return instance["audio"] if instance else []

    def wait_until_plays(self, application, plays=True):
        wait_until(
            lambda: ("playing" in self.audio_of(application)) == plays,
            f"{application}, which {'plays' if plays else 'pauses'}")

    def wait_until_suspended(self, application):
        wait_until(
            lambda: self.daemon.application(application)["state"] == "suspended",
            f"the suspension of {application}")


def write_music(path):
    """Writes a quiet sawtooth of 200 Hz."""
    period = bytes(118 + index // 2 for index in range(MUSIC_RATE // 200))
    with wave.open(path, "wb") as music:
        music.setparams((1, 1, MUSIC_RATE, 0, "NONE", ""))
        music.writeframes(period * (200 * MUSIC_SECONDS))
