import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("/proc of real processes")
struct ProcFSTests {
  private let proc: ProcFS

  init() throws { proc = try ProcFS() }

  /// A Python program that sets its command name with prctl(PR_SET_NAME), and then waits.
  private static let renamed = """
    import ctypes, sys
    ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1]), 0, 0, 0)
    print("ready")
    sys.stdin.readline()
    """

  @Test(
    "A command name that looks like the following fields is parsed",
    arguments: ["a b", ") Z 1 1 (", "))))", "((((", "x\ny) R 2", "\u{fc}) S"])
  func hostileNames(name: String) throws {
    let hex = name.utf8.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }
    let process = try TestProcess.python(Self.renamed, [hex.joined()])
    #expect(try process.readLine() == "ready")
    let stat = try #require(try proc.stat(process.pid))
    #expect(stat.pid == process.pid)
    #expect(stat.command == name)
    #expect(stat.parent == getpid())
    #expect(stat.processGroup == process.pid)
    #expect(stat.session == getsid(0))
    #expect(stat.threadCount == 1)
  }

  @Test("The controlling terminal of a process is named by its device")
  func controllingTerminal() throws {
    let process = try TestProcess.python(
      """
      import os, pty, sys
      pid, terminal = pty.fork()
      if pid == 0:
          print(os.getpid(), os.ttyname(0))
          sys.stdin.readline()
          sys.exit()
      line = b""
      while not line.endswith(b"\\n"):
          line += os.read(terminal, 4096)
      print(line.decode().strip())
      sys.stdin.readline()
      """) { $0.newSession = true; $0.processGroup = nil }
    let words = try #require(try process.readLine()).split(separator: " ").map(String.init)
    let child = try #require(Int32(words[0]))
    let terminal = try #require(try proc.stat(child)).terminal
    #expect(terminal.map { "/dev/\($0.name)" } == words[1])
    let parent = try #require(try proc.stat(process.pid))
    #expect(parent.terminal == nil)
  }

  @Test(
    "The name of a terminal's device is that in the kernel's list of devices",
    arguments: [
      (0x8803, "pts/3"), (0x10_882C, "pts/300"), (0x401, "tty1"), (0x440, "ttyS0"),
      (0xCC05, "tty-204-5"), (0, nil),
    ])
  func terminalName(number: UInt32, name: String?) {
    #expect(TerminalDevice(number: number)?.name == name)
  }

  @Test("The start time of a new process is the present time in ticks since boot")
  func startTime() throws {
    let before = BootClock.now() / 10_000_000
    let process = try TestProcess.shell("read x")
    let after = BootClock.now() / 10_000_000
    let stat = try #require(try proc.stat(process.pid))
    #expect((before...after).contains(stat.startTime))
  }

  @Test("The CPU time of a busy process grows, except while the process is stopped")
  func cpuTime() throws {
    let process = try TestProcess.shell("while :; do :; done")
    try spend(ticks: 3, process.pid)
    try process.pidfd.send(signal: SIGSTOP)
    #expect(try process.pidfd.wait([.stopped]) == .stopped(signal: SIGSTOP))
    let stopped = try #require(try proc.stat(process.pid))
    #expect(stopped.state == .stopped)
    #expect(stopped.state.isStandingStill)
    // Meanwhile, another process uses CPU time.
    let other = try TestProcess.shell("while :; do :; done")
    try spend(ticks: 5, other.pid)
    #expect(try proc.stat(process.pid)?.cpuTicks == stopped.cpuTicks)
  }

  /// Waits until a process has used the given CPU time, at most 20 s.
  private func spend(ticks: UInt64, _ pid: Int32) throws {
    let start = try #require(try proc.stat(pid)).cpuTicks
    let end = BootClock.now() + 20_000_000_000
    while try #require(try proc.stat(pid)).cpuTicks < start + ticks {
      try #require(BootClock.now() < end)
      _ = sched_yield()
    }
  }

  private static let threaded = """
    import os, subprocess, sys, threading
    def work():
        child = subprocess.Popen(["/bin/sh", "-c", "read x"], stdin=subprocess.PIPE)
        print(child.pid)
        sys.stdin.readline()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    """

  @Test("The children of any thread, all threads and the ancestors of a process are found")
  func children() throws {
    let process = try TestProcess.python(Self.threaded)
    let child = try #require(try process.readLine().flatMap { Int32($0) })
    #expect(try proc.children(process.pid) == [child])
    let states = try #require(try proc.threadStates(process.pid))
    #expect(states.count == 2)
    #expect(states.contains { $0.thread == process.pid })
    #expect(try proc.threads(process.pid)?.sorted() == states.map(\.thread).sorted())
    #expect(try proc.stat(process.pid)?.threadCount == 2)
    let chain = try proc.ancestors(child)
    #expect(chain.prefix(2).map(\.pid) == [process.pid, getpid()])
    #expect(Set(try proc.pids()).isSuperset(of: [child, process.pid, getpid()]))
  }

  @Test("The ids, the tracer and the pending signals of a process are read")
  func details() throws {
    let process = try TestProcess.shell("trap '' USR2; kill -STOP $$; read x")
    #expect(try process.pidfd.wait([.stopped]) == .stopped(signal: SIGSTOP))
    try process.pidfd.send(signal: SIGUSR1)
    let details = try #require(try proc.details(process.pid))
    #expect(details.uids.effective == geteuid())
    #expect(details.gids.real == getgid())
    #expect(details.tracerPID == 0)
    #expect(try proc.tracer(of: process.pid, in: process.pid) == nil)
    #expect(details.isPending(SIGUSR1))
    #expect(!details.isPending(SIGUSR2))
    #expect(!details.isPending(SIGTERM))
  }

  private static let tracer = """
    import ctypes, sys, threading
    pid = int(sys.argv[1])
    def trace():
        if ctypes.CDLL(None, use_errno=True).ptrace(0x4206, pid, None, None) != 0:
            print("refused", flush=True)
        else:
            print("tracing", flush=True)
        sys.stdin.readline()
    if sys.argv[2] == "first":
        trace()
    else:
        thread = threading.Thread(target=trace)
        thread.start()
        thread.join()
    """

  @Test(
    "The tracer of a process is found, whichever thread of the tracer has attached",
    arguments: ["first", "other"])
  func traced(thread: String) throws {
    let process = try TestProcess.shell("read x")
    let tracer = try TestProcess.python(Self.tracer, ["\(process.pid)", thread])
    if try tracer.readLine() == "refused" {
      print("skipped: this machine forbids tracing")
      return
    }
    #expect(try proc.tracer(of: process.pid, in: process.pid) == tracer.pid)
    if thread == "first" { #expect(try proc.details(process.pid)?.tracerPID == tracer.pid) }
  }

  @Test("A search in the environment finds a complete entry, and not a part of an entry")
  func environment() throws {
    let process = try TestProcess.shell("echo ready; read x") {
      $0.environment = ["MARK=abc", "OTHER=x"]
    }
    #expect(try process.readLine() == "ready")
    func has(_ entry: String) throws -> Bool? {
      try proc.environment(process.pid, contains: [UInt8](entry.utf8))
    }
    #expect(try has("MARK=abc") == true)
    #expect(try has("MARK=ab") == false)
    #expect(try has("ARK=abc") == false)
    #expect(try has("") == false)
  }

  @Test("Every function returns nil for a process that does not exist")
  func gone() throws {
    let process = try TestProcess.shell("exit 0")
    let pid = process.pid
    _ = try process.waitForExit()
    #expect(try proc.stat(pid) == nil)
    #expect(try proc.children(pid) == nil)
    #expect(try proc.threadStates(pid) == nil)
    #expect(try proc.details(pid) == nil)
    #expect(try proc.environment(pid, contains: [1]) == nil)
    #expect(try proc.cgroup(pid) == nil)
    #expect(try proc.ancestors(pid).isEmpty)
  }
}
