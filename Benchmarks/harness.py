"""The environment of a measurement: a directory, a daemon and other processes."""

import ctypes
import glob
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
START_SECONDS = 10
libc = ctypes.CDLL(None, use_errno=True)

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class Failure(Exception):
    """The reason why a measurement failed, as a sentence."""


def wait_until(condition, what, seconds=START_SECONDS):
    """Waits until a condition holds, by polling it."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise Failure(f"{what}: nothing within {seconds} s")
        time.sleep(0.005)


def median(values):
    return statistics.median(values)


class Bench:
    """A directory for the benchmark, and its processes. Leaving the context removes both."""

    def __init__(self, binaries, daemon):
        self.binaries = binaries
        self.daemon_program = daemon

    def __enter__(self):
        # Orphaned descendants become children of this process, so that it can end them.
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.directory = tempfile.mkdtemp(prefix="taskschedd-bench-")
        # The daemon's runtime directory must be in memory, and /tmp may be on a disk.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.runtime = tempfile.mkdtemp(prefix="taskschedd-bench-", dir=memory)
        self.processes = []
        self.groups = []
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            self.end(process)
        for group in reversed(self.groups):
            remove_group(group)
        end_children()
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.runtime, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def program(self, name):
        return os.path.join(self.binaries, name)

    def start(self, arguments, group=None, prepare=None, **options):
        """Starts a process in a new session. The process first calls `prepare`, and ends with the
        benchmark."""
        parent = os.getpid()

        def set_up():
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            if group:
                with open(os.path.join(group, "cgroup.procs"), "w", encoding="utf-8") as file:
                    file.write("0")
            if prepare:
                prepare()

        process = subprocess.Popen(
            arguments, start_new_session=True, preexec_fn=set_up, **options)
        self.processes.append(process)
        return process

    def end(self, process):
        """Ends a process with SIGTERM, or with SIGKILL if that fails. Kills its process group."""
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        self.processes.remove(process)

    def make_group(self, name):
        """Returns (new cgroup, None), or (None, reason) if it cannot be created."""
        parent, reason = own_group()
        if parent is None:
            return None, reason
        path = os.path.join(parent, f"taskschedd-bench-{os.getpid()}-{name}")
        try:
            os.mkdir(path)
        except OSError as error:
            return None, f"cannot create a cgroup in {parent}: {error.strerror}"
        self.groups.append(path)
        return path, None

    def daemon(self, name, settings="", manifests=(), group=None, log_level="notice",
               event_log=True):
        """Starts a daemon, and waits until it is ready. Its log is in the benchmark's directory."""
        socket_path = self.path(name + ".socket")
        configuration = self.write(
            name + ".toml", f'log-level = "{log_level}"\noperator-group = ""\n{settings}')
        directory = self.path(name + ".applications")
        os.makedirs(directory)
        for id, text in manifests:
            self.write(f"{name}.applications/{id}.toml", f'id = "{id}"\n{text}')
        with open(self.path(name + ".log"), "w", encoding="utf-8") as log:
            process = self.start(
                [self.daemon_program, "--config", configuration, "--manifests", directory,
                 "--socket", socket_path, "--state", self.path(name + ".state"),
                 "--log-target", "stderr",
                 *(["--event-log", os.path.join(self.runtime, name)] if event_log
                   else ["--no-event-log"])],
                group=group, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={"PATH": os.environ["PATH"], "HOME": self.directory})
        self.wait_for_socket(process, socket_path, self.path(name + ".log"))
        return Daemon(process, socket_path)

    def wait_for_socket(self, process, path, log=None):
        def is_served():
            if process.poll() is not None:
                text = open(log, encoding="utf-8").read() if log else ""
                raise Failure(f"{process.args[0]} ended with {process.returncode}\n{text}")
            with socket.socket(socket.AF_UNIX) as probe:
                return probe.connect_ex(path) == 0

        wait_until(is_served, f"connecting to {path}")

    def run(self, arguments, seconds, **options):
        """Runs a program to its end. Returns its output: a list of words for each line."""
        process = self.start(arguments, stdout=subprocess.PIPE, text=True, **options)
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{arguments[0]}: did not end within {seconds} s") from error
        finally:
            self.end(process)
        if process.returncode != 0:
            raise Failure(f"{os.path.basename(arguments[0])} failed: see above")
        return [line.split() for line in output.splitlines()]


class Daemon:
    """A running daemon."""

    def __init__(self, process, socket_path):
        self.process = process
        self.socket = socket_path

    @property
    def pid(self):
        return self.process.pid

    def memory(self):
        """Returns the private memory of the daemon, and the dirty part of this memory, in kB."""
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="utf-8") as file:
            fields = dict(line.split(":", 1) for line in file if line.startswith("Private_"))
        clean, dirty = (int(fields[f"Private_{kind}"].split()[0]) for kind in ("Clean", "Dirty"))
        return clean + dirty, dirty

    def resident_memory(self):
        """Returns the resident memory of the daemon in kB, including mapped pages of files."""
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def wake_ups(self):
        """Returns how often threads of the daemon have waited since its start."""
        return wake_ups(self.pid)

    def adopt(self, application, pid, **parameters):
        """Puts a running process under management."""
        pidfd = os.pidfd_open(pid)
        try:
            self.call(
                "Adopt", {"application": application, "processFileDescriptor": 0, **parameters},
                pidfd)
        finally:
            os.close(pidfd)

    def application(self, application):
        return self.call(
            "GetApplication", {"application": application, "owner": None})["application"]

    def call(self, method, parameters, *descriptors):
        """Makes one call of org.taskschedd.Control."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(START_SECONDS)
            connection.connect(self.socket)
            message = {"method": "org.taskschedd.Control." + method, "parameters": parameters}
            socket.send_fds(connection, [json.dumps(message).encode() + b"\0"], descriptors)
            answer = b""
            while not answer.endswith(b"\0"):
                part = connection.recv(65536)
                if not part:
                    raise Failure(f"{method}: the daemon closed the connection")
                answer += part
        answer = json.loads(answer[:-1])
        if "error" in answer:
            raise Failure(f"{method}: {answer}")
        return answer.get("parameters", {})


def wake_ups(pid):
    """Returns how often threads of a process have waited since its start."""
    count = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("voluntary_ctxt_switches:"):
                    count += int(line.split()[1])
    return count


def private_dirty(pid):
    """Returns the private dirty memory of a process in kB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Private_Dirty:"))


def percentiles(values):
    """Returns (p50, p99)."""
    ordered = sorted(values)
    return median(ordered), ordered[len(ordered) * 99 // 100]


def cgroup_mount():
    """Returns the mount point of cgroup v2, or None."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    return next((fields[1] for fields in mounts if fields[2] == "cgroup2"), None)


def own_group():
    """Returns (directory of this process's cgroup v2, None), or (None, reason) if it is not
    writable."""
    mount = cgroup_mount()
    if mount is None:
        return None, "no cgroup v2 hierarchy is mounted"
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        own = next((line[3:].strip() for line in file if line.startswith("0::")), None)
    if own is None:
        return None, "this process is in no cgroup v2"
    path = os.path.normpath(mount + own)
    if not os.access(os.path.join(path, "cgroup.procs"), os.W_OK):
        return None, f"this process may not write to {path}"
    return path, None


def end_children():
    """Kills and reaps all children of this process, including orphans that become its children."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="utf-8") as file:
            children = [int(pid) for pid in file.read().split()]
        if not children:
            return
        for pid in children:
            # The pid of a child stays reserved until this process reaps the child.
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def remove_group(path):
    """Kills the processes of a cgroup, and removes it with its descendants."""
    try:
        with open(os.path.join(path, "cgroup.kill"), "w", encoding="utf-8") as file:
            file.write("1")
        for child in sorted(glob.glob(path + "/**/", recursive=True), reverse=True):
            wait_until(lambda: removed(child), f"removing {child}")
    except OSError:
        pass


def removed(path):
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
