import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("The service")
  struct Service {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    @Test("The first connection to the socket starts the service, which is then active")
    func activation() throws {
      #expect(try machine.run("systemctl", "is-active", "taskschedd.service").text == "inactive\n")
      let list = try machine.must("taskctl", "list", "--all")
      #expect(list.text.contains(InstalledMachine.frozen))
      let status = try machine.must("systemctl", "status", "taskschedd.service")
      #expect(status.text.contains("Active: active (running)"))
      #expect(status.text.contains("● taskschedd.socket"))
    }

    @Test("The service is started when it notifies systemd, after it has read its configuration")
    func readiness() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      #expect(try installed.property("Type") == "notify")
      try installed.waitForJournal("Starting taskschedd", "ready at /run", "Started taskschedd")
    }

    @Test(
      "The service and its session have precedence over the applications that it manages",
      .enabled(if: (try? ProcFS())?.usesAutogroups == true, "this kernel has no autogroups"))
    func favoured() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let daemon = try installed.property("MainPID")
      #expect(try machine.must("ps", "-o", "ni=", "-p", daemon).text.contains("-10"))
      // The kernel refuses to set the priority of a session if it has set the priority of another
      // session within the last 100 ms. The daemon may therefore have to try again.
      func session() throws -> String { try machine.must("cat", "/proc/\(daemon)/autogroup").text }
      let end = ContinuousClock.now + deadline
      while try !session().hasSuffix(" nice -10\n"), ContinuousClock.now < end {}
      #expect(try session().hasSuffix(" nice -10\n"))
    }

    @Test("A service with an invalid configuration does not start, and systemd does not retry")
    func wrongConfiguration() throws {
      try installed.write("/etc/taskschedd/taskschedd.toml", "log-levle = \"info\"")
      #expect(try machine.run("systemctl", "start", "taskschedd.service").code != 0)
      #expect(try installed.property("ExecMainStatus") == "78")
      #expect(try installed.property("NRestarts") == "0")
      try installed.waitForJournal("/etc/taskschedd/taskschedd.toml:1: log-levle")
    }

    @Test("A service with an invalid configuration refuses the callers that wait for it")
    func refusedCaller() throws {
      try installed.write("/etc/taskschedd/taskschedd.toml", "log-levle = \"info\"")
      // systemd starts the daemon for this caller.
      let answer = try machine.run("taskctl", "list")
      #expect(answer.code == 3)
      #expect(answer.text.contains("closed the connection"), "\(answer.text)")
    }

    @Test(
        """
        The watchdog kills a daemon that hangs, and the next daemon manages the suspended \
        applications again
        """)
    func watchdog() throws {
      try installed.change("WatchdogSec=1s")
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        try installed.suspend(application)
      }
      let first = try installed.property("MainPID")
      try machine.must("systemctl", "kill", "-s", "STOP", "--kill-who=main", "taskschedd.service")
      try installed.waitForJournal("Watchdog timeout", "Started taskschedd.service")
      #expect(try installed.property("MainPID") != first)
      #expect(try installed.property("NRestarts") == "1")
      try machine.must("taskctl", "list")
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        try machine.must("taskctl", "foreground", application)
        try expectRunning(application)
      }
    }

    /// Runs with the `LimitNOFILE=524288` of the daemon's unit, and with a watchdog time of 4 s
    /// instead of the unit's 30 s.
    @Test(
      "§12: The watchdog does not kill a daemon that examines 10,000,000 descriptors"
    )
    func examination() throws {
      try installed.change("WatchdogSec=4s")
      try machine.must("systemctl", "start", "taskschedd.service")
      let first = try installed.property("MainPID")
      let application = "org.test.descriptors"
      let program = try machine.start([
        "taskctl", "run", "--id", application, "--", "python3", "-u", "-c",
        """
        import os, resource, signal, socket
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        kept = [socket.socket(socket.AF_UNIX).detach() for _ in range(10000)]
        for _ in range(1000):
            if os.fork() == 0:
                while True: signal.pause()
        print("ready")
        while True: signal.pause()
        """,
      ])
      #expect(try program.readLine(within: .seconds(60)) == "ready")
      try machine.must("taskctl", "background", application)
      try installed.wait(for: application, toBe: "suspended")
      let why = try machine.must("taskctl", "why", application).text
      #expect(why.contains("could not examine all of its descriptors"), "\(why)")
      #expect(try installed.property("MainPID") == first)
      #expect(try installed.property("NRestarts") == "0")
      _ = try machine.run("taskctl", "terminate", application)
    }

    @Test("A killed daemon that is about to be restarted keeps its applications suspended")
    func startedAgain() throws {
      try installed.write(
        "/run/systemd/system/taskschedd.service.d/slow.conf", "[Service]\nRestartSec=1h")
      try machine.must("systemctl", "daemon-reload")
      try installed.suspend(InstalledMachine.frozen)
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try installed.waitForJournal("Failed with result 'signal'")
      #expect(try installed.property("SubState") == "auto-restart")
      // Starts the release service late, as if an earlier end of the daemon had triggered it.
      try machine.must("systemctl", "start", "taskschedd-release.service")
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      #expect(try group.isFrozen())
      // `systemctl start` would wait for the automatic restart in an hour.
      try machine.must("systemctl", "restart", "taskschedd.service")
      let status = try machine.must("taskctl", "status", InstalledMachine.frozen)
      #expect(status.text.contains("suspended"))
      #expect(try group.isFrozen())
    }

    @Test("A killed daemon that is stopped before its restart leaves nothing suspended")
    func stoppedWhileAway() throws {
      try installed.write(
        "/run/systemd/system/taskschedd.service.d/slow.conf", "[Service]\nRestartSec=1h")
      try machine.must("systemctl", "daemon-reload")
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        try installed.suspend(application)
      }
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try installed.waitForJournal("Failed with result 'signal'")
      #expect(try installed.property("SubState") == "auto-restart")
      try machine.must("systemctl", "stop", "taskschedd.socket", "taskschedd.service")
      // The end of the daemon's service has already started the release service. This command waits
      // until the release service has done its work.
      try machine.must("systemctl", "start", "taskschedd-release.service")
      try expectRunning(InstalledMachine.frozen)
      try expectRunning(InstalledMachine.signalled)
    }

    @Test("A daemon without its operators' group says so, and uses the group when it is created")
    func operatorsGroup() throws {
      let group = "late-operators"
      let user = InstalledMachine.other
      defer { _ = try? machine.run("groupdel", group) }
      try installed.write(
        "/etc/taskschedd/taskschedd.toml", "operator-group = \"\(group)\"")
      let file = "/etc/taskschedd/taskschedd.toml"
      let warning = "\(file):1: operator-group: there is no group \"\(group)\""
      let check = try machine.must("taskschedd", "--check").text
      #expect(check.contains("warning: \(warning)"), "\(check)")
      try installed.launch(InstalledMachine.frozen)
      try installed.waitForJournal(warning)
      #expect(try machine.must("taskctl", "config").text.contains("warning: \(warning)"))
      let refused = try machine.run("taskctl", "status", InstalledMachine.frozen, as: user)
      #expect(refused.text.contains("UnknownApplication"), "\(refused.text)")
      try machine.must("groupadd", "--system", group)
      let status = try machine.must(
        "setpriv", "--reuid", "\(user)", "--regid", group, "--clear-groups", "taskctl", "status",
        InstalledMachine.frozen)
      #expect(status.text.contains("Owner: tester"), "\(status.text)")
      #expect(!(try machine.must("taskctl", "config").text.contains(warning)))
    }

    @Test("A daemon that cannot serve leaves nothing suspended")
    func cannotServe() throws {
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        try installed.suspend(application)
      }
      try installed.write("/etc/taskschedd/taskschedd.toml", "log-levle = \"info\"")
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try installed.waitForJournal("log-levle", "Failed with result 'exit-code'")
      try machine.must("systemctl", "start", "taskschedd-release.service")
      try expectRunning(InstalledMachine.frozen)
      try expectRunning(InstalledMachine.signalled)
    }

    @Test(
        """
        A daemon with more than 1024 connections, the usual limit on open files, recovers after \
        kill -9
        """)
    func manyConnections() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      // The kernel takes long to close some of the daemon's own descriptors. The daemon stores
      // copies of them, so that the kernel does not close them when the daemon dies.
      let others = Int(try installed.property("NFileDescriptorStore")) ?? 0
      #expect(
        others >= 3, "the store has watches of the time zone and the locale, and a pressure trigger"
      )
      let clients = try machine.start([
        "python3", "-u", "-c",
        """
        import resource, socket, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        sockets = [socket.socket(socket.AF_UNIX) for _ in range(1500)]
        for s in sockets: s.connect("/run/taskschedd/socket")
        def answered():
            for s in sockets: s.sendall(b'{"method":"org.varlink.service.GetInfo"}\\0')
            return sum(s.recv(65536).endswith(b"\\0") for s in sockets)
        print(answered())
        sys.stdin.readline()
        print(answered())
        """,
      ])
      #expect(try clients.readLine() == "1500")
      // The daemon stores a connection only when it has existed for a while.
      func waitUntilStored(_ count: Int) throws {
        let end = ContinuousClock.now + deadline
        var stored = ""
        while ContinuousClock.now < end {
          stored = try installed.property("NFileDescriptorStore")
          if stored == "\(count)" { return }
        }
        Issue.record("the store has \(stored) descriptors instead of \(count)")
      }
      try waitUntilStored(1500 + others)
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try clients.writeLine("again")
      #expect(try clients.readLine() == "1500", "the next daemon answers on the same connections")
      // The clients have ended, so only the new daemon's own descriptors stay in the store.
      try waitUntilStored(others)
    }

    @Test("A reload applies a new configuration")
    func reload() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      try installed.write("/etc/taskschedd/taskschedd.toml", "[policy]\nBackgroundTime = \"1min\"")
      try machine.must("systemctl", "reload", "taskschedd.service")
      try installed.waitForJournal("configuration read")
      let settings = try machine.must("taskctl", "config").text
      #expect(settings.contains("/etc/taskschedd/taskschedd.toml:2"))
      #expect(try installed.property("ActiveState") == "active")
    }

    @Test("A reload of an invalid configuration keeps the previous one and names the mistakes")
    func badReload() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let before = try machine.must("taskctl", "config").text
      try installed.write(
        "/etc/taskschedd/taskschedd.toml", "[policy]\nBackgroundTime = \"1 fortnight\"")
      try machine.must("systemctl", "reload", "taskschedd.service")
      try installed.waitForJournal("/etc/taskschedd/taskschedd.toml:2: ", "the previous one stays")
      #expect(try machine.must("taskctl", "config").text == before)
      #expect(try installed.property("ActiveState") == "active")
    }

    @Test("The service resumes all suspended applications before it stops")
    func cleanStop() throws {
      for application in [InstalledMachine.frozen, InstalledMachine.signalled] {
        try installed.suspend(application)
      }
      try machine.must("systemctl", "stop", "taskschedd.service")
      #expect(try installed.property("Result") == "success")
      try expectRunning(InstalledMachine.frozen)
      try expectRunning(InstalledMachine.signalled)
    }

    @Test("A restart leaves the launched applications running")
    func restart() throws {
      try installed.launch(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      let before = try group.processes().sorted()
      try machine.must("systemctl", "restart", "taskschedd.service")
      #expect(before.count >= 2)
      #expect(try group.processes().sorted() == before)
      try expectRunning(InstalledMachine.frozen)
    }

    @Test(
        """
        The daemon names applications of an earlier daemon that run on, and systemd handles their \
        ends
        """)
    func leftovers() throws {
      try installed.launch(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      try machine.must("systemctl", "stop", "taskschedd.service")
      try machine.must("systemctl", "start", "taskschedd.service")
      try installed.waitForJournal("run unmanaged: \(group.name)")
      try machine.must("systemctl", "stop", group.name)
      #expect(!group.exists)
    }

    /// Checks that no process of the application is frozen or stopped, and that each has its
    /// original priority.
    private func expectRunning(_ application: String) throws {
      let proc = try ProcFS()
      let groups = try installed.groups(of: application).filter { try $0.isPopulated() }
      #expect(!groups.isEmpty, "\(application) runs no longer")
      for group in groups {
        #expect(try !group.isFrozen(), "\(group.name) is frozen")
        for pid in try group.processes() {
          #expect(try proc.stat(pid)?.state != .stopped, "process \(pid) of \(group.name)")
          let priority = try ThreadPriority(of: pid)
          #expect(priority == nil || priority?.nice == 0, "process \(pid) of \(group.name)")
          let score = try proc.value(of: .outOfMemoryScore, thread: pid, process: pid, group: nil)
          #expect(score == nil || score == 0, "process \(pid) of \(group.name)")
        }
      }
    }
  }
}
