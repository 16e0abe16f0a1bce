"""A program of many busy processes. It prints `member PID KIND` for each: the leader with a second
thread, a child, a grandchild, and three orphans by double fork (one in the leader's process group,
one in its session, one in a separate session, which only its environment identifies)."""
import os, sys, threading


def burn():
    while True:
        pass


def member(kind):
    os.write(1, f"member {os.getpid()} {kind}\n".encode())
    burn()


def child(run):
    if os.fork() == 0:
        run()
        os._exit(0)


def orphan(kind, prepare):
    def middle():
        child(lambda: (prepare(), member(kind)))
        os._exit(0)

    pid = os.fork()
    if pid == 0:
        middle()
    os.waitpid(pid, 0)


def parent():
    child(lambda: member("grandchild"))
    member("child")


child(parent)
orphan("orphan-group", lambda: None)
orphan("orphan-session", lambda: os.setpgid(0, 0))
if os.environ.get("TASKSCHEDD_INSTANCE"):
    orphan("orphan-marked", os.setsid)
threading.Thread(target=burn, daemon=True).start()
member("leader")
