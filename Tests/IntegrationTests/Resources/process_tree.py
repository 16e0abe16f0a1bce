"""A program of several busy processes. It prints `member PID KIND` for each of them:

    leader              has a second thread
    child, grandchild   descend from the leader
    orphan-group        an orphan by double fork, in the leader's process group
    orphan-session      an orphan in another process group of the leader's session
    orphan-marked       an orphan in a separate session, which only TASKSCHEDD_INSTANCE in its
                        environment identifies; does not exist without this variable
"""
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
