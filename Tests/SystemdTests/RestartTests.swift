import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// §15: the daemon never forgets a task, keep-alive handler, notification or registration that it
  /// has acknowledged, even after a crash, an upgrade or kill -9.
  @Suite("Death and restart of the daemon")
  struct Restarts {
    private static let id = "org.example.client"
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    /// Starts an application that never reconnects, with one background task.
    private func client() throws -> TestProcess {
      let client = try installed.startClient(Self.id)
      return client
    }

    private func ask(_ client: TestProcess, _ line: String) throws -> String {
      try installed.ask(client, line)
    }

    /// Kills the daemon with SIGKILL, and waits until the next daemon serves.
    private func kill() throws {
      let before = try installed.property("MainPID")
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try machine.must("taskctl", "list")
      #expect(try installed.property("MainPID") != before)
    }

    @Test("No client notices the restart, not even in the middle of a message")
    func middleOfMessage() throws {
      let client = try client()
      #expect(try ask(client, "half") == "half")
      try kill()
      #expect(try machine.must("taskctl", "tasks").text.contains("work"))
      #expect(try ask(client, "rest") == "{\"parameters\":{}}")
      #expect(!(try machine.must("taskctl", "tasks").text.contains("work")))
      #expect(try ask(client, "status").contains("\"state\":\"inactive\""))
    }

    @Test("No client notices the restart in the middle of a message that is larger than its socket")
    func middleOfLongMessage() throws {
      let client = try client()
      #expect(try ask(client, "large") == "half")
      try kill()
      try kill()
      let answer = try ask(client, "finish")
      #expect(answer.contains("\"parameter\":\"name\""), "\(answer)")
      #expect(try ask(client, "status").contains("\"state\":\"inactive\""))
    }

    /// A program that kills the daemon directly after the daemon's first recv(2) has returned. The
    /// daemon calls recv(2) only to receive messages of clients.
    private static let killer = """
      import ctypes, os, signal, struct, sys
      libc, pid = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
      def ptrace(request, address, data):
          arguments = [ctypes.c_long(value) for value in (request, pid, address)]
          result = libc.ptrace(*arguments, data)
          if result < 0: sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")
      INTERRUPT, SYSCALL, SEIZE, SYSCALL_INFO, SYSGOOD = 0x4207, 24, 0x4206, 0x420E, 1
      ptrace(SEIZE, 0, ctypes.c_long(SYSGOOD))
      ptrace(INTERRUPT, 0, None)
      os.waitpid(pid, 0x40000000)
      ptrace(SYSCALL, 0, None)
      print("attached", flush=True)
      RECEIVE = {"x86_64": 45, "aarch64": 207}[os.uname().machine]
      ENTRY, EXIT, call = 1, 2, None
      while True:
          _, status = os.waitpid(pid, 0x40000000)
          number = os.WSTOPSIG(status)
          if number == signal.SIGTRAP | 0x80:
              info = ctypes.create_string_buffer(88)
              ptrace(SYSCALL_INFO, len(info), info)
              if info.raw[0] == ENTRY: call, = struct.unpack_from("Q", info, 24)
              elif info.raw[0] == EXIT and call == RECEIVE: break
              number = 0
          ptrace(SYSCALL, 0, ctypes.c_long(0 if status >> 16 else number))
      os.kill(pid, signal.SIGKILL)
      print("killed", flush=True)
      """

    @Test(
      """
      A call whose event the daemon stored before its death gets the answer of the next daemon, by \
      the interface of the call
      """)
    func answerAfterDeath() throws {
      let client = try client()
      let before = try installed.property("MainPID")
      let killer = try machine.start(["python3", "-I", "-c", Self.killer, before])
      #expect(try killer.readLine() == "attached")
      let parameters = "{\"application\":\"\(Self.id)\",\"notification\":7}"
      let answer = try ask(client, "call Control.CancelNotifications \(parameters)")
      #expect(try killer.readLine() == "killed")
      #expect(answer.contains("\"org.taskschedd.Control.UnknownNotification\""), "\(answer)")
      #expect(try installed.property("MainPID") != before)
    }

    @Test("Unacknowledged callbacks are sent again with the same id")
    func callbacks() throws {
      let client = try client()
      let first = try ask(client, "event")
      #expect(first.contains("\"id\":1") && first.contains("didFinishLaunching"))
      try kill()
      #expect(try ask(client, "event") == first)
      #expect(try ask(client, "acknowledge 1") == "{\"parameters\":{}}")
      #expect(try ask(client, "event").contains("didBecomeActive"))
    }

    @Test("A monitor and an outstanding call continue")
    func waiting() throws {
      let client = try client()
      let monitor = try machine.start(["taskctl", "monitor", "--json"])
      while try monitor.readLine()?.contains("\"ready\"") != true {}
      // The call of `terminate` stays outstanding until the application has acknowledged its
      // callbacks.
      let terminate = try machine.start(["taskctl", "terminate", Self.id])
      while try ask(client, "event").contains("didFinishLaunching") != true {}
      while try machine.must("taskctl", "status", Self.id).text.contains("(terminating)") != true {}
      try kill()
      #expect(try ask(client, "acknowledge 1") == "{\"parameters\":{}}")
      var seen = ""
      while !seen.contains("\"kind\":\"ended\""), let line = try monitor.readLine() { seen += line }
      #expect(seen.contains("terminatedByOperator") || seen.contains("callbackTimeout"))
      #expect(try terminate.waitForExit()?.shellCode == 0)
    }

    @Test("A suspended application executes nothing in a restart, and its later end has a reason")
    func suspended() throws {
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        try installed.suspend(application)
      }
      let groups = try [InstalledMachine.frozen, InstalledMachine.signalled].flatMap {
        try installed.groups(of: $0)
      }
      func used() throws -> [UInt64] { try groups.map { UInt64(try $0.cpuMicroseconds()) } }
      let before = try used()
      try kill()
      try kill()
      let after = try used()
      #expect(after == before)
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        #expect(try machine.must("taskctl", "status", application).text.contains("suspended"))
        try machine.must("taskctl", "terminate", application)
        let status = try machine.must("taskctl", "status", "--json", application).text
        #expect(status.contains("terminatedByOperator"))
      }
    }

    @Test(
        """
        An upgrade (systemctl restart) keeps tasks, connections and states; suspended applications \
        stay suspended
        """)
    func upgrade() throws {
      let client = try client()
      let suspended = [InstalledMachine.frozen, InstalledMachine.signalled]
      for application in suspended { try installed.suspend(application) }
      let groups = try suspended.flatMap { try installed.groups(of: $0) }
      func used() throws -> [UInt64] { try groups.map { UInt64(try $0.cpuMicroseconds()) } }
      let before = try used()
      try machine.must("systemctl", "restart", "taskschedd.service")
      #expect(try ask(client, "status").contains("\"name\":\"work\""))
      for application in suspended {
        #expect(try machine.must("taskctl", "status", application).text.contains("suspended"))
      }
      #expect(try used() == before)
      try installed.waitForJournal(
        "stopped; suspended applications stay suspended", "took over 3 applications")
      #expect(try installed.property("Result") == "success")
    }

    private func waitUntilThawed(_ group: ControlGroup) throws {
      let watch = try group.watchEvents()
      while try ControlGroup.events(of: watch.rawValue)?.isFrozen == true {
        try waitFor(POLLPRI, on: watch.rawValue)
      }
    }

    @Test("§15: An upgrade to a daemon that cannot be started leaves nothing suspended")
    func failedUpgrade() throws {
      try installed.suspend(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      try installed.change("ExecStart=\nExecStart=/usr/bin/false\nRestart=no")
      #expect(try machine.run("systemctl", "restart", "taskschedd.service").code != 0)
      try installed.waitForJournal("stopped; suspended applications stay suspended")
      try waitUntilThawed(group)
    }

    @Test("§15: A restart that becomes a stop leaves nothing suspended")
    func cancelledRestart() throws {
      try installed.suspend(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      // A restart is a stop and a start. The stop lasts until the file /run/go exists. Until then,
      // the test can order a stop instead of the restart.
      try installed.change(
        "ExecStopPost=/bin/sh -c 'until [ -e /run/go ]; do sleep 0.05; done'")
      defer { _ = try? machine.run("rm", "-f", "/run/go") }
      try machine.must("systemctl", "restart", "--no-block", "taskschedd.service")
      try installed.waitForJournal("stopped; suspended applications stay suspended")
      #expect(try group.isFrozen())
      try machine.must("systemctl", "stop", "--no-block", "taskschedd.service")
      try machine.must("touch", "/run/go")
      try waitUntilThawed(group)
    }

    @Test(
      "After a stop, the applications run on, and the next daemon knows that they were released")
    func stop() throws {
      try installed.launch(InstalledMachine.frozen)
      try machine.must("systemctl", "stop", "taskschedd.service")
      try machine.must("systemctl", "start", "taskschedd.service")
      let status = try machine.must("taskctl", "status", "--json", InstalledMachine.frozen).text
      #expect(status.contains("notRunning"))
      #expect(status.contains("schedulerStopped"))
    }

    /// Stops the daemon, and mounts a separate file system for the event log.
    private func mount(size: String) throws {
      try machine.must("systemctl", "stop", "taskschedd.service")
      try machine.must("mkdir", "-p", Self.folder)
      try machine.must(
        "mount", "-t", "tmpfs", "-o", "size=\(size),mode=700", "tmpfs", Self.folder)
    }

    private static let folder = "/run/taskschedd/event-log"

    private func unmount() { _ = try? machine.run("umount", "-l", Self.folder) }

    /// Acknowledges the two callbacks of the start. Otherwise the daemon would kill the client if
    /// CallbackTimeout expired on a slow machine.
    private func acknowledgeStart(_ client: TestProcess) throws {
      for callback in 1...2 {
        #expect(try ask(client, "event").contains("\"callback\""))
        #expect(try ask(client, "acknowledge \(callback)") == "{\"parameters\":{}}")
      }
    }

    @Test("Without room for a second event log in the runtime directory, new requests are refused")
    func small() throws {
      try mount(size: "500k")
      defer { unmount() }
      try machine.must("systemctl", "start", "taskschedd.service")
      try installed.waitForJournal("no space for the next event log")
      #expect(try machine.run("taskctl", "run", "--", "true").text.contains("StateNotSaved"))
      try machine.must("mount", "-o", "remount,size=8m", Self.folder)
      let client = try client()
      #expect(try ask(client, "begin 1").contains("\"task\""))
      try installed.waitForJournal("there is space for the next event log again")
    }

    @Test("§15: With a completely full runtime directory, kill -9 loses nothing")
    func full() throws {
      try mount(size: "8m")
      defer { unmount() }
      let client = try client()
      try acknowledgeStart(client)
      let rest = "\(Self.folder)/rest"
      #expect(try machine.run("dd", "if=/dev/zero", "of=\(rest)", "bs=4k").code != 0)
      // The records fill several event logs. Each new log reuses the space of an older one, so the
      // full file system does not matter.
      #expect(try ask(client, "begin 20000").contains("\"task\""))
      let name = try machine.must("sh", "-c", "ls \(Self.folder)").text
      #expect(!name.contains("event-log.1\n"), "\(name)")
      try kill()
      #expect(try ask(client, "status").contains("\"name\":\"work\""))
      #expect(try ask(client, "begin 20000").contains("\"task\""))
      try kill()
      #expect(try ask(client, "half") == "half")
      #expect(try ask(client, "rest") == "{\"parameters\":{}}")
      #expect(try ask(client, "status").contains("\"tasks\":[]"))
    }

    @Test(
      "If the last records of the event log are lost, the process is managed again or resumed",
      arguments: [60, 100, 180, 260, 5000])
    func torn(bytes: Int) throws {
      let id = "org.example.truncated"
      try machine.must("systemctl", "start", "taskschedd.service")
      let program = try machine.start([
        "taskctl", "run", "--id", id, "--", "sh", "-c", "echo $$; exec sleep 1000",
      ])
      let pid = try #require(try program.readLine())
      try machine.must("taskctl", "background", id)
      try installed.wait(for: id, toBe: "suspended")
      try installed.change("Restart=no")
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try installed.waitForJournal("Failed with result 'signal'")
      // systemd has resumed the process after the daemon's death. SIGSTOP restores the state in
      // which the dead daemon left it.
      try machine.must("kill", "-STOP", pid)
      try machine.must("python3", "-c", Self.tear, "\(bytes)")
      try machine.must("systemctl", "start", "taskschedd.service")
      let status = try machine.run("taskctl", "status", "--json", id).text
      if status.contains("\"background\"") || status.contains("\"suspended\"") {
        // The daemon suspends an application that it finds in the background.
        try installed.wait(for: id, toBe: "suspended")
        try machine.must("taskctl", "foreground", id)
      }
      let state = try machine.must("ps", "-o", "stat=", "-p", pid).text
      #expect(!state.hasPrefix("T"), "\(state)")
      try machine.must("kill", "-KILL", pid)
    }

    /// Overwrites the last bytes of the event log's records with zeros.
    private static let tear = """
      import glob, sys
      path, = glob.glob("/run/taskschedd/event-log/event-log.*")
      data = bytearray(open(path, "rb").read())
      end = len(data.rstrip(b"\\0"))
      start = max(4096, end - int(sys.argv[1]))
      data[start:end] = bytes(end - start)
      open(path, "r+b").write(data)
      """

    /// Starts a client, and suspends it before the client has read the last answer. The environment
    /// of the client does not contain the marker TASKSCHEDD_INSTANCE.
    private func suspendedClient() throws -> TestProcess {
      let client = try client()
      for line in ["half", "rest"] { _ = try ask(client, line) }
      func obey(_ callback: String, _ id: Int) throws {
        #expect(try ask(client, "event").contains(callback))
        #expect(try ask(client, "acknowledge \(id)") == "{\"parameters\":{}}")
      }
      try obey("didFinishLaunching", 1)
      try obey("didBecomeActive", 2)
      let background = try machine.start(["taskctl", "background", Self.id])
      try obey("willResignActive", 3)
      #expect(try ask(client, "event").contains("didEnterBackground"))
      // Does not wait for the answer: the client may be suspended before it has read the answer.
      try client.writeLine("acknowledge 4")
      #expect(try background.waitForExit()?.shellCode == 0)
      try installed.wait(for: Self.id, toBe: "suspended")
      return client
    }

    @Test("Without an event log, processes that systemd kept are resumed and their connections end")
    func lost() throws {
      let client = try suspendedClient()
      try installed.change("ExecStartPre=/bin/rm -r /run/taskschedd/event-log")
      try kill()
      #expect(try machine.run("taskctl", "status", Self.id).code != 0)
      #expect(try client.readLine() == "{\"parameters\":{}}")
      #expect(try ask(client, "event") == "closed")
    }

    /// Overwrites the event log with zeros, from the client's id in its registration to the end.
    private static let tearFromRegistration = """
      import glob
      path, = glob.glob("/run/taskschedd/event-log/event-log.*")
      data = bytearray(open(path, "rb").read())
      start = data.index(b"\(id)")
      data[start:] = bytes(len(data) - start)
      open(path, "r+b").write(data)
      """

    @Test("A process that systemd kept is resumed if the rest of the event log does not name it")
    func unnamed() throws {
      let client = try suspendedClient()
      try installed.write("/run/tear.py", Self.tearFromRegistration)
      defer { _ = try? machine.run("rm", "-f", "/run/tear.py") }
      // The `+` runs the script without the sandbox of the daemon.
      try installed.change("ExecStartPre=+/usr/bin/python3 -I /run/tear.py")
      try kill()
      try installed.waitForJournal("up to the first damage")
      #expect(try machine.run("taskctl", "status", Self.id).code != 0)
      #expect(try client.readLine() == "{\"parameters\":{}}", "the client runs")
    }

    @Test("A daemon with an unusable event log starts, and nothing stays suspended")
    func unreadable() throws {
      try installed.suspend(InstalledMachine.signalled)
      try installed.suspend(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      try installed.change("Restart=no")
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try installed.waitForJournal("Failed with result 'signal'")
      // Changes the format version in the event log to an unknown one.
      try machine.must(
        "sh", "-c", "printf '\\377' | dd of=$(ls /run/taskschedd/event-log/event-log.*) bs=1 "
          + "seek=8 conv=notrunc status=none")
      try machine.must("systemctl", "start", "taskschedd.service")
      try installed.waitForJournal(": its format version is ")
      let status = try machine.must("taskctl", "status", InstalledMachine.frozen).text
      #expect(status.contains("notRunning"))
      #expect(try !group.isFrozen())
    }
  }
}
