import LinuxSystem
import TaskSchedulerDaemon
import TestSupport
import Testing

extension SystemdTests {
  @Suite("the journal")
  struct Journal {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    private func records(_ id: MessageID, of application: String) throws -> [[String: String]] {
      try installed.journal("MESSAGE_ID=\(id.rawValue)", "TASKSCHEDD_APP=\(application)")
    }

    @Test("has a record of each transition, with its application, process, states and cause")
    func transitions() throws {
      let application = InstalledMachine.frozen
      try installed.suspend(application)
      let launched = try #require(try records(.launched, of: application).first)
      let pid = try #require(launched["TASKSCHEDD_PID"])
      #expect(launched["TASKSCHEDD_FROM"] == "notRunning")
      #expect(launched["TASKSCHEDD_TO"] == "active")
      #expect(launched["TASKSCHEDD_OWNER"] == "\(InstalledMachine.tester)")
      let transitions = try records(.transition, of: application)
      #expect(
        transitions.map { [$0["TASKSCHEDD_FROM"], $0["TASKSCHEDD_TO"], $0["TASKSCHEDD_REASON"]] }
          == [
            ["active", "background", "sendAway"], ["background", "suspended", "noEntitlement"],
          ])
      #expect(transitions.allSatisfy { $0["TASKSCHEDD_PID"] == pid && $0["PRIORITY"] == "6" })
    }

    @Test("has a record of each task, with its number and name")
    func tasks() throws {
      try machine.must("taskctl", "task", "--id", "org.example.task", "--", "true")
      let began = try #require(try records(.taskBegan, of: "org.example.task").first)
      #expect(began["TASKSCHEDD_TASK"] == "1")
      #expect(began["TASKSCHEDD_TASK_NAME"]?.isEmpty == false)
    }

    @Test("has a record of each end, with its reason")
    func ends() throws {
      let application = InstalledMachine.frozen
      try installed.launch(application)
      try machine.must("taskctl", "terminate", application)
      let end = try #require(try records(.ended, of: application).first)
      #expect(end["TASKSCHEDD_REASON"] == "terminatedByOperator")
    }

    @Test("has a record of each refusal, with the error's name")
    func refusals() throws {
      let application = InstalledMachine.frozen
      #expect(try machine.run("taskctl", "inactive", application).code == 1)
      let refusal = try #require(try records(.refused, of: application).first)
      #expect(refusal["TASKSCHEDD_REASON"] == "InvalidTransition")
    }

    @Test("has what a launched program writes, under its application's id")
    func output() throws {
      try installed.launch(InstalledMachine.frozen)
      let journal = try installed.output(of: InstalledMachine.frozen)
      #expect(try journal.readLine() == "working as tester")
    }

    @Test("explains each record by the catalog")
    func catalog() throws {
      try installed.suspend(InstalledMachine.frozen)
      try machine.must("journalctl", "--sync")
      let explained = try machine.must(
        "journalctl", "-q", "-x", "--cursor=\(installed.cursor)", "-t", "taskschedd"
      ).text
      #expect(explained.contains("Subject: org.example.frozen went from background to suspended"))
      #expect(explained.contains("`taskctl status org.example.frozen` shows where"))
      let known = try machine.must("journalctl", "--list-catalog").text
      for id in MessageID.allCases {
        #expect(known.contains(id.rawValue), "\(id) has no entry in the catalog")
      }
    }

    @Test("is shown by taskctl log, of one application alone")
    func log() throws {
      try installed.suspend(InstalledMachine.frozen)
      try installed.suspend(InstalledMachine.signalled)
      try machine.must("journalctl", "--sync")
      let log = try machine.must("taskctl", "log", InstalledMachine.frozen).lines
      #expect(log.last?.contains("background -> suspended") == true)
      #expect(log.allSatisfy { !$0.contains(InstalledMachine.signalled) })
    }
  }
}
