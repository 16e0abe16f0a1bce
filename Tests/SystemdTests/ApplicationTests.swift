import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("Launched applications")
  struct LaunchedApplications {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    private func group(of application: String) throws -> ControlGroup {
      try #require(try installed.groups(of: application).first)
    }

    @Test("An application runs as the user of its manifest, with that user's groups and home")
    func user() throws {
      try installed.write(
        "/etc/taskschedd/applications/org.example.who.toml",
        """
        id = "org.example.who"
        command = ["sh", "-c", "id; pwd; exec sleep 1000"]
        user = "tester"
        """)
      defer {
        _ = try? machine.run("rm", "/etc/taskschedd/applications/org.example.who.toml")
      }
      try machine.must("taskctl", "launch", "org.example.who")
      let journal = try installed.output(of: "org.example.who")
      let user = InstalledMachine.tester
      #expect(
        try journal.readLine() == "uid=\(user)(tester) gid=\(user)(tester) groups=\(user)(tester)")
      #expect(try journal.readLine() == "/home/\(user)")
    }

    @Test(
      "Each application has a unit and a cgroup for its processes; the daemon has a separate one")
    func groups() throws {
      try installed.launch(InstalledMachine.frozen)
      try installed.launch(InstalledMachine.signalled)
      let daemon = try installed.unit.processes()
      #expect(daemon.count == 1)
      let first = try group(of: InstalledMachine.frozen).processes()
      let second = try group(of: InstalledMachine.signalled).processes()
      #expect(first.count >= 2)
      #expect(second.count >= 2)
      #expect(Set(daemon).isDisjoint(with: first + second))
      #expect(Set(first).isDisjoint(with: second))
    }

    @Test("A frozen application executes no instruction until it is activated")
    func freezer() throws {
      try installed.suspend(InstalledMachine.frozen)
      let group = try group(of: InstalledMachine.frozen)
      #expect(try group.isFrozen())
      try expectStandingStill(group)
      let watch = try group.watchEvents()
      try machine.must("taskctl", "foreground", InstalledMachine.frozen)
      // The kernel reports the thaw when the first process runs.
      while try ControlGroup.events(of: watch.rawValue)?.isFrozen == true {
        try waitFor(POLLPRI, on: watch.rawValue)
      }
    }

    @Test("Signals suspend an application if its manifest says so")
    func signals() throws {
      try installed.suspend(InstalledMachine.signalled)
      let group = try group(of: InstalledMachine.signalled)
      #expect(try !group.isFrozen())
      let proc = try ProcFS()
      let processes = try group.processes()
      #expect(processes.count == 2)
      for pid in processes { #expect(try proc.stat(pid)?.state == .stopped) }
      try expectStandingStill(group)
      try machine.must("taskctl", "foreground", InstalledMachine.signalled)
      for pid in processes { #expect(try proc.stat(pid)?.state != .stopped) }
    }

    /// Checks that the processes of the group use no CPU time while another program starts and
    /// ends.
    private func expectStandingStill(_ group: ControlGroup) throws {
      let before = try group.cpuMicroseconds()
      try machine.must("taskctl", "status", "--json")
      #expect(try group.cpuMicroseconds() == before)
    }

    @Test("A terminated application leaves no process, cgroup or unit")
    func terminated() throws {
      try installed.suspend(InstalledMachine.frozen)
      let group = try group(of: InstalledMachine.frozen)
      let processes = try group.processes()
      try machine.must("taskctl", "terminate", InstalledMachine.frozen)
      try installed.waitForRemoval(of: group)
      let proc = try ProcFS()
      for pid in processes { #expect(try proc.stat(pid).map(\.state.hasEnded) != false) }
      let units = try machine.must(
        "systemctl", "list-units", "--all", "--no-legend",
        "app-taskschedd-\(InstalledMachine.frozen)@*")
      #expect(units.text.isEmpty)
    }

    @Test("Applications of other users may be run and suspended from their terminals")
    func adopted() throws {
      let program = try machine.start(
        ["taskctl", "run", "--id", "org.example.run", "--", "sleep", "1000"],
        as: InstalledMachine.other)
      try installed.wait(for: "org.example.run", toBe: "active")
      try machine.must("taskctl", "background", "org.example.run")
      try installed.wait(for: "org.example.run", toBe: "suspended")
      // Another user can neither list nor operate the application.
      let seen = try machine.must("taskctl", "list", as: InstalledMachine.tester)
      #expect(!seen.text.contains("org.example.run"))
      let refused = try machine.run(
        "taskctl", "terminate", "org.example.run", as: InstalledMachine.tester)
      #expect(refused.code == 1)
      try machine.must("taskctl", "terminate", "org.example.run", as: InstalledMachine.other)
      _ = try program.waitForExit()
    }

    @Test("Members of the group taskschedd may operate the application of a member")
    func operators() throws {
      try installed.launch(InstalledMachine.frozen)
      let user = "\(InstalledMachine.other)"
      try machine.must("gpasswd", "-a", "other", "taskschedd")
      defer { _ = try? machine.run("gpasswd", "-d", "other", "taskschedd") }
      try machine.must(
        "setpriv", "--reuid=\(user)", "--regid=\(user)", "--init-groups", "taskctl", "background",
        InstalledMachine.frozen)
      try installed.wait(for: InstalledMachine.frozen, toBe: "suspended")
    }
  }
}
