"""A small virtual machine: Debian's kernel in qemu, without a network. Its processes are root.

It needs neither root nor /dev/kvm on this machine, and no installed kernel: make unpacks the
packages into a directory.
"""

import ctypes
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess

from harness import PR_SET_PDEATHSIG, Failure

# The modules for the disk, in the order in which they are loaded.
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev",
           "virtio_pci", "virtio_blk"]
PYTHON = "/usr/bin/python3"
QEMU = "qemu-system-x86_64"
libc = ctypes.CDLL(None)
INIT = """#!/bin/busybox sh
export PATH=/bin
busybox mount -t devtmpfs devtmpfs /dev
for module in {modules}; do busybox insmod /modules/$module.ko; done
busybox mount -t ext4 -o ro /dev/vda /machine
busybox mount -t proc proc /machine/proc
busybox mount -t sysfs sysfs /machine/sys
busybox mount -t cgroup2 cgroup2 /machine/sys/fs/cgroup
busybox mount -t tmpfs tmpfs /machine/run
busybox mount --move /dev /machine/dev
exec busybox switch_root /machine {python} -I -S /bench/{script}
"""


def missing(unpacked):
    """Returns a sentence about what is missing for a small machine; None if nothing is."""
    if platform.machine() != "x86_64":
        return "the small machine needs an x86-64 host"
    programs = [name for name in (QEMU, "mkfs.ext4") if not program(name)]
    if programs:
        return "missing: " + ", ".join(programs)
    for file in ("boot/vmlinuz-*", "bin/busybox"):
        if not glob.glob(os.path.join(unpacked, file)):
            return f"missing: {file} in {unpacked}"
    return None


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def is_virtualized():
    """Returns whether KVM can run any kernel. Without VMX and SVM (PVM), KVM needs special
    kernels."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        flags = set(file.read().split())
    return bool(flags & {"vmx", "svm"}) and os.access("/dev/kvm", os.R_OK | os.W_OK)


def archive(entries):
    """Returns a cpio archive ("newc"). The entries are tuples (name, mode, content, device)."""
    parts = []
    for number, (name, mode, content, device) in enumerate(
            [*entries, ("TRAILER!!!", 0, b"", (0, 0))], start=1):
        path = name.encode() + b"\0"
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(path), 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
        parts += [head, b"\0" * (-len(head) % 4), content, b"\0" * (-len(content) % 4)]
    return b"".join(parts)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class SmallMachine:
    """A small machine, whose files are in a directory that the caller removes."""

    def __init__(self, directory, unpacked, megabytes, cpus):
        self.directory, self.unpacked = directory, unpacked
        self.megabytes, self.cpus = megabytes, cpus
        self.kernel = sorted(glob.glob(os.path.join(unpacked, "boot/vmlinuz-*")))[-1]
        self.release = os.path.basename(self.kernel).removeprefix("vmlinuz-")

    def path(self, name):
        return os.path.join(self.directory, name)

    def make(self, programs, script, parameters):
        """Makes the files of the machine. `script` becomes its first process.

        Copies `programs` to /bench, not to their own paths: /tmp, /run, /proc, /sys and /dev are
        mounts in the machine, which would hide programs that are below one of them here.
        """
        root = self.path("root")
        for name in ("proc", "sys", "dev", "run", "bench", "etc"):
            os.makedirs(os.path.join(root, name))
        os.symlink("run", os.path.join(root, "tmp"))
        with open(os.path.join(root, "etc/passwd"), "w", encoding="ascii") as file:
            file.write("root:x:0:0:root:/:/bin/sh\n")
        for file in [script, *programs]:
            shutil.copy(file, os.path.join(root, "bench"))
        with open(os.path.join(root, "bench/parameters"), "w", encoding="utf-8") as file:
            json.dump(parameters, file)
        library = subprocess.check_output(
            [PYTHON, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
            text=True).strip()
        shutil.copytree(library, root + library, ignore=shutil.ignore_patterns(
            "test", "config-*", "idlelib", "ensurepip", "*-packages"))
        files = {PYTHON}
        for file in [PYTHON, *programs, *glob.glob(library + "/lib-dynload/*.so")]:
            files |= set(re.findall(r"(/\S+) \(0x", subprocess.run(
                ["ldd", file], capture_output=True, text=True, check=False).stdout))
        subprocess.run(["cp", "-L", "--parents", *sorted(files), root], check=True)
        self.make_disk(root)
        self.make_start(os.path.basename(script))
        # An empty disk, which fills the page cache when it is read.
        with open(self.path("nothing"), "wb") as file:
            file.truncate(self.megabytes << 20)

    def make_disk(self, root):
        size = int(subprocess.check_output(["du", "-sm", root], text=True).split()[0])
        subprocess.run(
            [program("mkfs.ext4"), "-q", "-O", "^has_journal", "-d", root, self.path("disk"),
             f"{size * 5 // 4 + 32}M"], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(root)

    def make_start(self, script):
        loaded = os.path.join(self.unpacked, "lib/modules", self.release, "kernel/drivers")
        init = INIT.format(modules=" ".join(MODULES), python=PYTHON, script=script)
        entries = [(name, 0o040755, b"", (0, 0))
                   for name in ("bin", "dev", "machine", "modules")]
        entries += [
            ("dev/console", 0o020600, b"", (5, 1)),
            ("bin/busybox", 0o100755, read(os.path.join(self.unpacked, "bin/busybox")), (0, 0)),
            ("init", 0o100755, init.encode(), (0, 0))]
        for name in MODULES:
            found = glob.glob(f"{loaded}/*/{name}.ko")
            if not found:
                raise Failure(f"the kernel {self.release} has no module {name}")
            entries.append((f"modules/{name}.ko", 0o100644, read(found[0]), (0, 0)))
        with open(self.path("start"), "wb") as file:
            file.write(archive(entries))

    def boot(self, is_fast):
        """Starts the machine. Returns qemu's process, whose output is the second serial line."""
        drives = []
        for name, options in (("disk", "readonly=on"), ("nothing", "readonly=on")):
            drives += ["-drive", f"file={self.path(name)},format=raw,if=virtio,{options}"]
        # Without KVM, each instruction takes a nanosecond of virtual time, so computing does not
        # depend on the load of this machine. Waiting and the disks take real time.
        means = ["-enable-kvm", "-cpu", "host"] if is_fast else [
            "-accel", "tcg", "-icount", "shift=0,sleep=on"]
        return subprocess.Popen(
            [QEMU, *means, "-m", f"{self.megabytes}M", "-smp", str(self.cpus), "-nodefaults",
             "-no-user-config", "-display", "none", "-no-reboot", "-serial",
             f"file:{self.path('console')}", "-serial", "stdio", "-kernel", self.kernel,
             "-initrd", self.path("start"), "-append",
             "console=ttyS0 quiet loglevel=4 psi=1 panic=-1", *drives],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))

    def console(self):
        with open(self.path("console"), encoding="utf-8", errors="replace") as file:
            return file.read()
