"""A program for tests that uses resources. It prints its pid. Then each line of its standard input
is a request, which it answers with one line:

    fork                 makes a child with a second thread: `PID`
    thread               makes a thread: its id
    real-time            makes a thread of SCHED_FIFO, priority 7, reset on fork: its id
    nice TID N           sets a nice value
    session              makes a child that leads a new session: `PID`
    storm N              makes N children at short intervals; answers immediately
    calm                 waits until `storm` has made all children, and the thread of `storm` has
                         ended; at its end, the children move to another thread of the program, and
                         listings may omit some of them
    score N              sets its oom_score_adj
    lock KIND PATH       locks a file. KIND is flock, fcntl, ofd, lease, or passed: a child takes
                         the lock and ends, and the program keeps the file open
    unlock               closes the file that it locked last
    listen PATH          listens on a TCP port and a Unix socket: `127.0.0.1:PORT`
    burn SECONDS         uses the given CPU time, and then none
"""
import fcntl, os, signal, socket, struct, sys, threading, time

kept = []
DEFAULT_FLAGS = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
F_OFD_SETLK = 37


def wait_forever(prepare, answers):
    try:
        prepare()
        answers.append(threading.get_native_id())
    except OSError as error:
        answers.append(error)
    ready.set()
    while True:
        signal.pause() if threading.current_thread() is threading.main_thread() else time.sleep(1e6)


def thread(prepare=lambda: None):
    answers = []
    ready.clear()
    threading.Thread(target=wait_forever, args=(prepare, answers), daemon=True).start()
    ready.wait()
    return answers[0]


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(7))


def lock(kind, path):
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    if kind == "flock":
        fcntl.flock(file, fcntl.LOCK_EX)
    elif kind == "fcntl":
        fcntl.lockf(file, fcntl.LOCK_EX)
    elif kind == "ofd":
        fcntl.fcntl(file, F_OFD_SETLK, DEFAULT_FLAGS)
    elif kind == "lease":
        os.close(file)
        file = os.open(path, os.O_RDONLY)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    elif kind == "passed":
        child = os.fork()
        if child == 0:
            fcntl.flock(file, fcntl.LOCK_EX)
            os._exit(0)
        os.waitpid(child, 0)
    kept.append(file)


def listen(path):
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(path)
    unix.listen()
    # The other sockets do not listen, so the daemon must not report them.
    kept.extend([tcp, unix, socket.socket(), socket.socketpair()])
    return "127.0.0.1:%d" % tcp.getsockname()[1]


def storm(count):
    for _ in range(count):
        if os.fork() == 0:
            while True:
                signal.pause()


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


ready = threading.Event()
print(os.getpid(), flush=True)
for line in sys.stdin:
    words = line.split()
    answer = "done"
    if words[0] == "fork":
        reading, writing = os.pipe()
        answer = os.fork()
        if answer == 0:
            ready = threading.Event()
            thread()
            os.write(writing, b"x")
            while True:
                signal.pause()
        os.read(reading, 1)
    elif words[0] == "session":
        reading, writing = os.pipe()
        answer = os.fork()
        if answer == 0:
            os.setsid()
            os.write(writing, b"x")
            while True:
                signal.pause()
        os.read(reading, 1)
    elif words[0] == "storm":
        forking = threading.Thread(target=storm, args=(int(words[1]),))
        forking.start()
    elif words[0] == "calm":
        forking.join()
        while os.path.exists(f"/proc/self/task/{forking.native_id}"):
            time.sleep(0.001)
    elif words[0] == "thread":
        answer = thread()
    elif words[0] == "real-time":
        answer = thread(real_time)
    elif words[0] == "nice":
        os.setpriority(os.PRIO_PROCESS, int(words[1]), int(words[2]))
    elif words[0] == "score":
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(words[1])
    elif words[0] == "lock":
        lock(words[1], words[2])
    elif words[0] == "unlock":
        os.close(kept.pop())
    elif words[0] == "listen":
        answer = listen(words[1])
    elif words[0] == "burn":
        print(answer, flush=True)
        burn(float(words[1]))
        continue
    print(answer, flush=True)
