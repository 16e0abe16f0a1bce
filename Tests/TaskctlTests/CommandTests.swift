import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("The commands, against a daemon played by the test")
struct CommandTests {
  private typealias Control = ControlInterface

  @Test("list prints the table, and exits with 0")
  func list() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["list"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(Control.ListApplications.Output(applications: [sample()]))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("APPLICATION       STATE       SINCE"))
    #expect(outcome.output.contains("org.example.mail  background"))
    #expect(outcome.errors == "")
  }

  @Test("list --json prints the daemon's own objects as one line")
  func listJSON() throws {
    let daemon = try FakeDaemon()
    // --socket, and before the command's name: options may stand on either side.
    let taskctl = try TaskctlProcess(["--socket", daemon.socket, "list", "--json"], socket: nil)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    let sent = Control.ListApplications.Output(applications: [sample(), endedSample()])
    try connection.reply(sent)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(outcome.output.hasPrefix(#"{"applications":[{"application":"org.example.mail","#))
    let value = try JSONParser.parse(Array(outcome.output.utf8.dropLast()))
    #expect(try value.decode(Control.ListApplications.Output.self) == sent)
  }

  @Test(
    "the commands that name an application send its id and owner, say nothing and exit with 0",
    arguments: ["foreground", "inactive", "background"])
  func operations(command: String) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      [command, "org.example.mail", "--owner", "root"], socket: daemon.socket)
    let connection = try daemon.accept()
    let call = try connection.receive()
    let methods = [
      "foreground": Control.Activate.name, "inactive": Control.Deactivate.name,
      "background": Control.SendToBackground.name,
    ]
    #expect(call.method == methods[command])
    #expect(call.parameters["application"] == "org.example.mail")
    #expect(call.parameters["owner"] == 0)
    try connection.reply(Control.Activate.Output())
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output + outcome.errors == "")
  }

  @Test("a mistyped id is refused with the nearest right one, and exit code 1")
  func nearestID() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["foreground", "org.example.mial"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.Activate.self)
    try connection.fail(
      Control.Failure.unknownApplication(
        application: input.application, nearest: "org.example.mail"))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(
      outcome.errors == "taskctl: UnknownApplication: there is no application"
        + " 'org.example.mial'; did you mean 'org.example.mail'?\n")
  }

  @Test("launch says the pid; with --background it asks for the background")
  func launch() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["launch", "org.example.mail", "--background"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.Launch.self)
    #expect(input == .init(application: "org.example.mail", background: true))
    try connection.reply(Control.Launch.Output(instance: 3, pid: 815))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "org.example.mail: launched, pid 815\n")
  }

  @Test("terminate waits for the end and says how it ended")
  func terminate() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["terminate", "--by-user", "org.example.mail"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.Terminate.self)
    #expect(input == .init(application: "org.example.mail", byUser: true))
    let end = Control.End(reason: .terminatedByUser, atUSec: 5)
    try connection.reply(Control.Terminate.Output(end: end))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "org.example.mail: was ended by the user\n")
  }

  @Test("terminate --no-wait is done when the call has been sent")
  func terminateNoWait() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["terminate", "--no-wait", "org.example.mail"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.GetApplication.self)
    try connection.reply(Control.GetApplication.Output(application: sample()))
    #expect(try connection.receive().method == Control.Terminate.name)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "")
  }

  @Test("terminate --no-wait of what does not run is refused nonetheless")
  func terminateNotRunning() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["terminate", "--no-wait", "org.example.news"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.GetApplication.self)
    try connection.reply(Control.GetApplication.Output(application: endedSample()))
    _ = try connection.receive()
    try connection.fail(
      Control.Failure.invalidTransition(
        application: "org.example.news", state: .notRunning, cause: "terminate"))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: InvalidTransition: 'org.example.news' is notRun"))
  }

  @Test("output that cannot be written is an error, not silence")
  func fullDisk() throws {
    let daemon = try FakeDaemon()
    let path = try TaskctlProcess.path()
    let shell = try TestProcess.shell(
      "\(path) --socket \(daemon.socket) list >/dev/full 2>/dev/null; echo $?")
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(Control.ListApplications.Output(applications: []))
    let line = try shell.readLine()
    #expect(line == "1")
  }

  @Test("status of one application, and the daemon's summary without one")
  func status() throws {
    let daemon = try FakeDaemon()
    let one = try TaskctlProcess(["status", "org.example.mail"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.GetApplication.self)
    try connection.reply(Control.GetApplication.Output(application: sample()))
    let output = try one.outcome().output
    #expect(output.hasPrefix("org.example.mail - Mail\n        State: background since "))
    let all = try TaskctlProcess(["status"], socket: daemon.socket)
    let (second, _) = try daemon.accept(Control.ListApplications.self)
    try second.reply(Control.ListApplications.Output(applications: [sample()]))
    #expect(try all.outcome().output.hasPrefix("taskschedd - at \(daemon.socket)\n"))
  }

  @Test("tasks --json has each task with its application")
  func tasks() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["tasks", "--json"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(Control.ListApplications.Output(applications: [sample(), endedSample()]))
    #expect(
      try taskctl.outcome().output
        == #"{"tasks":[{"application":"org.example.mail","instance":7,"owner":1000,"task":"#
        + #"{"beganAtUSec":820000000,"expired":false,"id":3,"name":"sync"}}]}"# + "\n")
  }

  @Test("config --changed leaves the defaults out")
  func config() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["config", "--changed"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.GetSettings.self)
    try connection.reply(
      Control.GetSettings.Output(settings: [
        .init(name: "BackgroundTime", value: "1min", default: "10min", source: "/etc/t:3"),
        .init(name: "CallbackTimeout", value: "6s", default: "6s", source: "default"),
      ], warnings: ["there is no group \"x\u{1b}\""]))
    let outcome = try taskctl.outcome()
    #expect(outcome.output.contains("BackgroundTime  1min   *  /etc/t:3\n"))
    #expect(!outcome.output.contains("CallbackTimeout"))
    #expect(outcome.errors == "taskctl: warning: there is no group \"x\\x1b\"\n")
  }

  @Test("a reload with mistakes prints each on a line of its own, and exits with 1")
  func reload() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["reload"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.Reload.self)
    try connection.fail(Control.Failure.invalidConfiguration(problems: ["a:1: x", "b:2: \u{1b}"]))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: InvalidConfiguration: "))
    #expect(outcome.errors.hasSuffix("\n  a:1: x\n  b:2: \\x1b\n"))
  }

  @Test("monitor prints each line as it comes, and ends with 0 at Ctrl-C")
  func monitor() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["monitor", "--json"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.Monitor.self)
    try connection.reply(Control.Monitor.Output(application: sample()), continues: true)
    try connection.reply(Control.Monitor.Output(ready: true), continues: true)
    #expect(try taskctl.process.readLine()?.hasPrefix(#"{"application":{"#) == true)
    #expect(try taskctl.process.readLine() == #"{"ready":true}"#)
    try taskctl.process.pidfd.send(signal: SIGINT)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.errors == "")
  }

  @Test("monitor --until ends with 0 when the state is reached")
  func monitorUntil() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["monitor", "org.example.mail", "--until", "suspended"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.Monitor.self)
    try connection.reply(Control.Monitor.Output(application: sample()), continues: true)
    try connection.reply(Control.Monitor.Output(ready: true), continues: true)
    try connection.reply(
      Control.Monitor.Output(
        change: .init(
          kind: .transition, atUSec: Int(BootClock.now() / 1000), application: "org.example.mail",
          owner: 1000, from: .background, to: .suspended, cause: "noEntitlement", message: "")),
      continues: true)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output.hasSuffix("org.example.mail  background -> suspended (noEntitlement)\n"))
  }

  @Test("log executes journalctl with the matches")
  func log() throws {
    let daemon = try FakeDaemon()
    let script = daemon.file("journalctl")
    let number = creat(script, 0o755)
    let text = Array("#!/bin/sh\nfor a; do echo \"$a\"; done\nexit 5\n".utf8)
    #expect(write(number, text, text.count) == text.count)
    close(number)
    let folder = script.split(separator: "/").dropLast().joined(separator: "/")
    let taskctl = try TaskctlProcess(
      ["log", "org.example.mail", "-f", "-n", "20", "--since", "1 h ago", "--explain", "--json"],
      socket: nil, path: "/\(folder)")
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 5)
    #expect(
      outcome.output.split(separator: "\n") == [
        "--follow", "--lines=20", "--since=1 h ago", "--catalog", "--output=json", "--no-pager",
        "SYSLOG_IDENTIFIER=taskschedd", "TASKSCHEDD_APP=org.example.mail",
      ])
  }

  @Test("log without journalctl says so and exits with 1")
  func noJournal() throws {
    let taskctl = try TaskctlProcess(["log"], socket: nil, path: "/nowhere")
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: JournalUnavailable: there is no journalctl"))
  }

  @Test("ids are completed with those of the daemon, but nothing that a shell would evaluate")
  func completion() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["---completion", "status", "--", "positional@0", "0", "0", "taskctl", "status", ""],
      socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(
      Control.ListApplications.Output(applications: [sample(), sample("org.$(id)"), endedSample()]))
    #expect(try taskctl.outcome().output == "org.example.mail\norg.example.news\n")
  }
}
