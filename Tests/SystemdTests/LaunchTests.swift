import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("Launching through systemd")
  struct Launching {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    /// Launches an application with the given manifest. Returns the output of taskctl.
    private func launch(_ manifest: String) throws -> Machine.Output {
      let path = "/etc/taskschedd/applications/org.example.own-one.toml"
      try installed.write(path, "id = \"org.example.own-one\"\nuser = \"tester\"\n\(manifest)")
      defer { _ = try? machine.run("rm", path) }
      return try machine.run("taskctl", "launch", "org.example.own-one")
    }

    @Test(
      "A program that cannot be executed is reported with the reason, and its unit is removed",
      arguments: [
        ("command = [\"nosuchprogram\"]", "command: no program 'nosuchprogram' in PATH"),
        ("command = [\"/etc/passwd\"]", "executing /etc/passwd: Permission denied (EACCES)"),
        (
          "command = [\"true\"]\nworking-directory = \"/nowhere\"",
          "changing to the working directory /nowhere: No such file or directory (ENOENT)"
        ),
      ])
    func failures(manifest: String, reason: String) throws {
      let output = try launch(manifest)
      #expect(output.code != 0)
      #expect(output.text.contains("LaunchFailed"))
      #expect(output.text.contains(reason), "\(output.text)")
      let manager = try machine.start([
        "journalctl", "-q", "-f", "-n", "all", "-o", "cat", "--cursor=\(installed.cursor)",
        "_PID=1",
      ])
      while let line = try manager.readLine(),
        !line.contains("Main process exited, code=exited, status=127")
      {}
      let units = try machine.must(
        "systemctl", "list-units", "--all", "--no-legend", "app-taskschedd-org.example.own*")
      #expect(units.text.isEmpty)
    }

    @Test(
      """
      'taskctl launch' and 'taskctl notifications post --at' warn where the daemon's service is \
      not enabled, and so does the daemon's log where a manifest declares mode voip
      """)
    func serviceNotEnabled() throws {
      let warning = "taskschedd.service is not enabled: after the next boot"
      let path = "/etc/taskschedd/applications/org.example.own-one.toml"
      try installed.write(
        path,
        """
        id = "org.example.own-one"
        user = "tester"
        command = ["sleep", "1000"]
        background-modes = ["voip"]
        """)
      defer {
        for application in ["org.example.own-one", InstalledMachine.frozen] {
          _ = try? machine.run("taskctl", "terminate", application)
        }
        _ = try? machine.run("rm", path)
        _ = try? machine.run("systemctl", "disable", "taskschedd.service")
      }
      try machine.must("systemctl", "start", "taskschedd.service")
      try installed.waitForJournal("\(warning) org.example.own-one (mode voip)")
      let launched = try machine.must("taskctl", "launch", InstalledMachine.frozen)
      #expect(launched.text.contains("taskctl: warning: \(warning) no application is launched"))
      func post() throws -> String {
        try machine.must(
          "taskctl", "notifications", "post", "org.example.own-one", "tea", "--at",
          "2099-01-01T00:00:00", "--zone", "UTC"
        ).text
      }
      #expect(try post().contains("\(warning) no notification is shown"))
      try machine.must("systemctl", "enable", "taskschedd.service")
      #expect(try !post().contains("not enabled"))
    }

    @Test("A unit that systemd cannot start is a failed launch, which names the unit")
    func failedUnit() throws {
      try installed.write(
        "/run/systemd/system/app-.service.d/test.conf", "[Service]\nExecStartPre=/bin/false")
      try machine.must("systemctl", "daemon-reload")
      let output = try launch("command = [\"true\"]")
      #expect(output.code != 0)
      #expect(output.text.contains("systemd could not start the unit"), "\(output.text)")
      #expect(output.text.contains("journalctl -u 'app-taskschedd-org.example.own\\x2done@"))
    }

    @Test("The daemon reports how a program ends, although the program is a child of systemd")
    func ends() throws {
      let output = try launch("command = [\"sh\", \"-c\", \"exit 3\"]")
      #expect(output.code == 0, "\(output.text)")
      try installed.waitForJournal("org.example.own-one exited with code 3")
    }

    @Test(
      "systemd reports how a program ends if the kernel keeps no record of it",
      arguments: [
        ("exit 3", "exited with code 3"), ("kill -USR1 $$", "was terminated by SIGUSR1"),
      ])
    func endsToldBySystemd(way: String, end: String) throws {
      // The daemon forks to check whether the kernel records how a process ends. With this filter,
      // the daemon cannot fork, so it assumes that the kernel keeps no record. The filter permits
      // clone3, with which the daemon's libraries create threads.
      try installed.change("SystemCallFilter=~fork vfork clone")
      let output = try launch("command = [\"sh\", \"-c\", \"\(way)\"]")
      #expect(output.code == 0, "\(output.text)")
      try installed.waitForJournal("org.example.own-one \(end)")
    }

    @Test("Arguments, environment and directory reach the program unchanged, and no other program")
    func order() throws {
      let output = try launch(
        """
        command = ["sh", "-c", 'echo "$0|$SECRET|$PWD|$JOURNAL_STREAM"', '$HOME %i \\ "x" ü']
        environment = { SECRET = 'a $b %c "d" \\ e' }
        working-directory = "/usr"
        """)
      #expect(output.code == 0, "\(output.text)")
      let line = try installed.output(of: "org.example.own-one").readLine()
      #expect(line == #"$HOME %i \ "x" ü|a $b %c "d" \ e|/usr|"#)
    }

    @Test("An application's unit names its owner, and hides its environment from other users")
    func unit() throws {
      try installed.launch(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      func show(_ property: String) throws -> String? {
        try machine.must(
          "systemctl", "show", "--value", "-p", property, group.name, as: InstalledMachine.other
        ).lines.first
      }
      #expect(try show("User") == "\(InstalledMachine.tester)")
      #expect(try show("Slice") == "taskschedd.slice")
      #expect(
        try show("Description") == "\(InstalledMachine.frozen), launched by taskschedd")
      #expect(try show("Environment") == nil)
    }

    @Test("A daemon that is not a service launches applications in cgroups below its own cgroup")
    func byHand() throws {
      let daemon = try machine.start([
        "systemd-run", "--quiet", "--scope", "-p", "Delegate=yes", "--unit=byhand.scope",
        "taskschedd", "--socket", "/run/byhand.socket", "--state", "/run/byhand",
        "--log-target", "stderr",
      ])
      defer { _ = try? machine.run("systemctl", "stop", "byhand.scope") }
      while let line = try daemon.readLine(), !line.contains("ready at") {}
      let unit = machine.group.child("system.slice").child("byhand.scope")
      let pid = try machine.must("pgrep", "-f", "taskschedd --socket /run/byhand").lines[0]
      // Simulates a leftover cgroup with the name that the daemon would choose for the next cgroup.
      let taken = unit.child("\(InstalledMachine.frozen).\(pid)-1")
      try taken.create()
      try machine.must(
        "taskctl", "launch", "--socket", "/run/byhand.socket", InstalledMachine.frozen)
      let groups = try unit.children().filter { $0.name.hasPrefix(InstalledMachine.frozen) }
      #expect(groups.count == 2)
      #expect(try taken.isPopulated() == false)
      #expect(try groups.contains { try $0.isPopulated() })
      #expect(try installed.groups(of: InstalledMachine.frozen).isEmpty)
    }
  }
}
