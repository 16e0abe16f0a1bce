"""A program that traces its own child from a separate thread, as strace and debuggers do.

The child uses CPU time without end. Both the program and the child ignore SIGTERM.
"""
import ctypes, os, signal, sys, threading

PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    while True:
        pass


def trace():
    if libc.ptrace(PTRACE_SEIZE, child, None, None) != 0:
        print(f"refused: {os.strerror(ctypes.get_errno())}", flush=True)
    else:
        print("traces", flush=True)
    # The child is traced for as long as this thread lives.
    threading.Event().wait()


threading.Thread(target=trace, daemon=True).start()
while True:
    signal.pause()
