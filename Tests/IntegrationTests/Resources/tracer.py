"""A debugger. It traces the process whose pid is its argument, without stopping the process, and
detaches when it reads a line."""
import ctypes, os, sys

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, pid):
    if libc.ptrace(request, pid, None, None) != 0:
        print(f"refused: {os.strerror(ctypes.get_errno())}", flush=True)
        sys.exit(1)


pid = int(sys.argv[1])
ptrace(PTRACE_SEIZE, pid)
print("traces", flush=True)
sys.stdin.readline()
ptrace(PTRACE_INTERRUPT, pid)
os.waitpid(pid, WALL)
ptrace(PTRACE_DETACH, pid)
print("left", flush=True)
sys.stdin.readline()
