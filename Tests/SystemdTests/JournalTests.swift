import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerDaemon
import TestSupport
import Testing

extension SystemdTests {
  @Suite("The journal")
  struct Journal {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    private func records(_ kind: Record.Kind, of application: String) throws -> [[String: String]] {
      try installed.journal("MESSAGE_ID=\(kind.messageID)", "TASKSCHEDD_APP=\(application)")
    }

    @Test(
      "The journal has a record of each transition, with application, process, states and cause")
    func transitions() throws {
      let application = InstalledMachine.frozen
      try installed.suspend(application)
      let transitions = try records(.transition, of: application)
      let launched = try #require(transitions.first)
      let pid = try #require(launched["TASKSCHEDD_PID"])
      #expect(launched["TASKSCHEDD_OWNER"] == "\(InstalledMachine.tester)")
      #expect(
        transitions.map { [$0["TASKSCHEDD_FROM"], $0["TASKSCHEDD_TO"], $0["TASKSCHEDD_CAUSE"]] }
          == [
            ["notRunning", "active", "launch"], ["active", "background", "sendAway"],
            ["background", "suspended", "noEntitlement"],
          ])
      #expect(transitions.allSatisfy { $0["TASKSCHEDD_PID"] == pid && $0["PRIORITY"] == "6" })
    }

    @Test("The journal has a record of each task, with its number and name")
    func tasks() throws {
      try machine.must("taskctl", "task", "--id", "org.example.task", "--", "true")
      let began = try #require(try records(.taskBegan, of: "org.example.task").first)
      #expect(began["TASKSCHEDD_TASK"] == "1")
      #expect(began["TASKSCHEDD_TASK_NAME"]?.isEmpty == false)
    }

    @Test("The journal has a record of each end, with its reason")
    func ends() throws {
      let application = InstalledMachine.frozen
      try installed.launch(application)
      try machine.must("taskctl", "terminate", application)
      let end = try #require(try records(.ended, of: application).first)
      #expect(end["TASKSCHEDD_REASON"] == "terminatedByOperator")
    }

    @Test("journalctl -u shows the records of an application by its unit, with its process")
    func unit() throws {
      let application = InstalledMachine.frozen
      try installed.suspend(application)
      let group = try #require(try installed.groups(of: application).first)
      let status = try machine.must("taskctl", "status", application).text
      #expect(status.contains("Unit: \(group.name)\n"), "\(status)")
      let pid = try #require(try records(.transition, of: application).first?["TASKSCHEDD_PID"])
      try machine.must("taskctl", "terminate", application)
      try machine.must("journalctl", "--sync")
      let shown = try machine.must(
        "journalctl", "-q", "--cursor=\(installed.cursor)", "-u", group.name, "-o", "cat").text
      #expect(shown.contains("\(application) is suspended: nothing entitles it"), "\(shown)")
      #expect(shown.contains("\(application) was terminated by an operator"), "\(shown)")
      #expect(shown.contains("working as tester"), "the journal has the application's output")
      // The daemon names only the process (OBJECT_PID); journald adds the user (OBJECT_UID).
      let objects = try machine.must(
        "journalctl", "-q", "--cursor=\(installed.cursor)", "-o", "cat", "--output-fields=MESSAGE",
        "OBJECT_PID=\(pid)", "OBJECT_UID=\(InstalledMachine.tester)"
      ).text
      #expect(objects.contains("\(application) is suspended"), "\(objects)")
    }

    @Test("The journal has an end by a rule as a warning, and a requested end as a notice")
    func priorities() throws {
      let application = InstalledMachine.frozen
      try installed.write(
        "/etc/taskschedd/taskschedd.toml",
        "[policy]\nBackgroundTime = \"1s\"\nExpirationLead = \"100ms\"")
      let program = try machine.start(
        ["taskctl", "task", "--id", "org.example.greedy", "--", "sleep", "1000"])
      _ = try program.waitForExit()
      let killed = try #require(try records(.ended, of: "org.example.greedy").first)
      #expect(killed["PRIORITY"] == "4")
      #expect(killed["TASKSCHEDD_REASON"] == "backgroundTimeExpired")
      #expect(
        killed["MESSAGE"]?.hasPrefix(
          "org.example.greedy was killed: its background time expired with task 1 'sleep") == true,
        "\(killed)")
      try installed.launch(application)
      let group = try #require(try installed.groups(of: application).first)
      try machine.must("systemctl", "stop", group.name)
      let stopped = try #require(try records(.ended, of: application).first)
      #expect(stopped["PRIORITY"] == "5")
      #expect(stopped["TASKSCHEDD_REASON"] == "crashed")
      #expect(stopped["TASKSCHEDD_SIGNAL"] == "SIGTERM")
      #expect(stopped["MESSAGE"]?.hasPrefix("\(application) was terminated by SIGTERM") == true)
    }

    @Test("The journal has a record of each refusal, with the error's name")
    func refusals() throws {
      let application = InstalledMachine.frozen
      #expect(try machine.run("taskctl", "inactive", application).code == 1)
      let refusal = try #require(try records(.refused, of: application).first)
      #expect(refusal["TASKSCHEDD_REASON"] == "InvalidTransition")
    }

    @Test("The journal has the output of a launched program, under its application's id")
    func output() throws {
      try installed.launch(InstalledMachine.frozen)
      let journal = try installed.output(of: InstalledMachine.frozen)
      #expect(try journal.readLine() == "working as tester")
    }

    @Test("The catalog explains each record of the journal")
    func catalog() throws {
      try installed.suspend(InstalledMachine.frozen)
      try machine.must("journalctl", "--sync")
      let explained = try machine.must(
        "journalctl", "-q", "-x", "--cursor=\(installed.cursor)", "-t", "taskschedd"
      ).text
      #expect(explained.contains("Subject: org.example.frozen went from background to suspended"))
      #expect(explained.contains("`taskctl status org.example.frozen` shows its"))
      let known = try machine.must("journalctl", "--list-catalog").text
      for id in MessageID.allCases.map(\.rawValue) + Record.Kind.allCases.map(\.messageID) {
        #expect(known.contains(id), "\(id) has no entry in the catalog")
      }
    }

    @Test("For a user who may not read the journal, taskctl log asks the daemon, and says so")
    func ownLog() throws {
      try installed.suspend(InstalledMachine.frozen)
      try installed.suspend(InstalledMachine.signalled)
      let user = InstalledMachine.tester
      let log = try machine.must("taskctl", "log", "--system", as: user).text
      #expect(log.contains("taskctl: you may not read the system journal"), "\(log)")
      #expect(log.contains("\(InstalledMachine.frozen) is suspended"), "\(log)")
      #expect(!log.contains(InstalledMachine.signalled), "the log has no record of another user")
      let roots = try machine.must("taskctl", "log", "--system").text
      #expect(!roots.contains("you may not read the system journal"), "\(roots)")
    }

    @Test("taskctl log shows the records of one application")
    func log() throws {
      try installed.suspend(InstalledMachine.frozen)
      try installed.suspend(InstalledMachine.signalled)
      try machine.must("journalctl", "--sync")
      let log = try machine.must("taskctl", "log", InstalledMachine.frozen).lines
      #expect(log.last?.contains("is suspended: nothing entitles it to run") == true)
      #expect(log.allSatisfy { !$0.contains(InstalledMachine.signalled) })
    }
  }
}
