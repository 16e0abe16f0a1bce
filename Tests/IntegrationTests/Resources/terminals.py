"""Runs each argument as a shell command at a separate terminal, and copies the output.

Ends, and hangs up all terminals, when its standard input ends.
"""

import os
import pty
import select
import sys

terminals = []
for command in sys.argv[1:]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", command])
    terminals.append(terminal)
while True:
    for ready in select.select(terminals + [0], [], [])[0]:
        try:
            data = os.read(ready, 4096)
        except OSError:
            data = b""
        if data:
            if ready != 0:
                os.write(1, data)
        elif ready == 0:
            sys.exit()
        else:
            terminals.remove(ready)
