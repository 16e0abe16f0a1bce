import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("The commands, with a daemon that the test simulates")
struct CommandTests {
  private typealias Control = ControlInterface

  @Test("The list command prints a table and exits with 0")
  func list() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["list"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(
      Control.ListApplications.Output(applications: [sample()], sessionAgents: []))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("APPLICATION       STATE       SINCE"))
    #expect(outcome.output.contains("org.example.mail  background"))
    #expect(outcome.output.hasSuffix("\n\n1 application.\n"))
    #expect(outcome.errors == "")
  }

  @Test("The list command with --json prints the daemon's objects on one line")
  func listJSON() throws {
    let daemon = try FakeDaemon()
    // An option that all commands have may also precede the name of the command.
    let taskctl = try TaskctlProcess(
      ["--socket", daemon.socket, "list", "--all", "--json"], socket: nil)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    let sent = Control.ListApplications.Output(
      applications: [sample(), endedSample()], sessionAgents: [])
    try connection.reply(sent)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(outcome.output.hasPrefix(#"{"applications":[{"application":"org.example.mail","#))
    let value = try JSONParser.parse(Array(outcome.output.utf8.dropLast()))
    #expect(try value.decode(Control.ListApplications.Output.self) == sent)
  }

  @Test("JSON output has the wall-clock time beside each time since boot")
  func wallClock() throws {
    let json = JSONOutput.line(
      Control.ListApplications.Output(applications: [sample()], sessionAgents: []), clock)
    let value = try JSONParser.parse(Array(json.utf8.dropLast()))
    guard case .array(let applications)? = value["applications"] else {
      throw SystemError(call: "reading JSON", errno: EBADMSG)
    }
    #expect(applications[0]["stateSinceUSec"] == 820_000_000)
    #expect(applications[0]["stateSinceRealtimeUSec"] == 1_699_999_820_000_000)
    #expect(
      applications[0]["instance"]?["startedAtRealtimeUSec"] == 1_699_999_700_000_000)
    #expect(!json.contains("RemainingRealtimeUSec"))
  }

  @Test("JSON output treats each time of the interface as an instant or a duration")
  func times() {
    let lengths: Set<String> = [
      "backgroundTimeRemainingUSec", "choosingTimeUSec", "delayUSec", "gpuUSec", "intervalUSec",
      "cpuUSec", "stopLimitUSec", "withinUSec",
    ]
    let text = ControlInterface.description.text.split(separator: "\n")
      .filter { !$0.hasPrefix("#") && !$0.hasPrefix("  #") }.joined(separator: " ")
    let names = text.split { !$0.isLetter }.map(String.init).filter { $0.hasSuffix("USec") }
    let unknown = Set(names).subtracting(lengths).subtracting(JSONOutput.instants)
    #expect(
      unknown == ["firesAtUSec", "measuredAtUSec"],
      "add a new instant to JSONOutput.instants, or a new duration here")
  }

  @Test("The list command shows running and pending applications, and others with --all or --state")
  func selection() throws {
    var waiting = endedSample("org.example.waiting")
    waiting.nextLaunch = .init(atUSec: 5, delayUSec: 5, awaitsMemory: false)
    let all = [sample(), reachableSample(), endedSample(), waiting]
    let cases: [([String], [String], String)] = [
      ([], ["mail", "phone", "waiting"], "3 applications (1 suspended). 1 more is not"),
      (["--all"], ["mail", "phone", "news", "waiting"], "4 applications (1 suspended).\n"),
      (["org.*.m*", "*.news"], ["mail"], "1 application. 1 more is not running; --all lists it.\n"),
      (["--state", "suspended,active"], ["phone"], "1 application (1 suspended).\n"),
      (["--state", "active", "--state", "notRunning"], ["news", "waiting"], "2 applications.\n"),
      (["nothing*"], [], "No applications.\n"),
      (["--no-legend"], ["mail", "phone", "waiting"], ""),
      (["--no-legend", "nothing*"], [], ""),
    ]
    for (arguments, names, footer) in cases {
      let daemon = try FakeDaemon()
      let taskctl = try TaskctlProcess(["list"] + arguments, socket: daemon.socket)
      let (connection, _) = try daemon.accept(Control.ListApplications.self)
      try connection.reply(Control.ListApplications.Output(applications: all, sessionAgents: []))
      let output = try taskctl.outcome().output
      let rows = output.split(separator: "\n").filter { $0.hasPrefix("org.") }
      #expect(rows.map { $0.split { " .".contains($0) }[2] } == names.map { $0[...] })
      #expect(output.contains(footer))
      if arguments.first == "--no-legend" { #expect(!output.contains("APPLICATION")) }
    }
  }

  @Test("The verbs ps, show, start, stop and kill of other tools are aliases")
  func aliases() throws {
    let cases = [
      ("ps", Control.ListApplications.name), ("show", Control.GetApplication.name),
      ("start", Control.Launch.name), ("stop", Control.Terminate.name),
      ("kill", Control.Terminate.name),
    ]
    for (verb, method) in cases {
      let daemon = try FakeDaemon()
      let taskctl = try TaskctlProcess([verb, "org.example.mail"], socket: daemon.socket)
      let connection = try daemon.accept()
      #expect(try connection.receive().method == method)
      try connection.close()
      #expect(try taskctl.outcome().code == 3)
    }
  }

  private func answerSessions(_ connection: FakeConnection) throws {
    #expect(try connection.receive().method == Control.ListSessions.name)
    try connection.reply(Control.ListSessions.Output(sessions: []))
  }

  @Test("The command line without a subcommand prints the status of the daemon")
  func bare() throws {
    let daemon = try FakeDaemon()
    for arguments in [[], ["--json"]] {
      let taskctl = try TaskctlProcess(arguments, socket: daemon.socket)
      let (connection, _) = try daemon.accept(Control.ListApplications.self)
      try connection.reply(
        Control.ListApplications.Output(applications: [sample()], sessionAgents: []))
      if arguments.isEmpty { try answerSessions(connection) }
      let output = try taskctl.outcome().output
      #expect(output.hasPrefix(arguments.isEmpty ? "taskschedd - at " : #"{"applications""#))
    }
  }

  @Test(
    "A command for an application sends its id and owner, prints nothing and exits with 0",
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

  @Test("A command with a mistyped id prints the nearest id and exits with 1")
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
        + " 'org.example.mial' in the daemon at \(daemon.socket);"
        + " did you mean 'org.example.mail'?\n")
  }

  @Test("The launch command prints the pid, and --background requests the background")
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

  @Test("The terminate command waits for the end and prints how the application ended")
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
    #expect(outcome.output == "org.example.mail: was terminated by the user\n")
  }

  @Test("The terminate command with --no-wait returns once the call has been sent")
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

  @Test("The terminate command prints the last end of an application that is not running")
  func terminateEnded() throws {
    for end in [Control.End(reason: .exited, code: 3, atUSec: 5), nil] {
      let daemon = try FakeDaemon()
      let taskctl = try TaskctlProcess(["terminate", "org.example.mail"], socket: daemon.socket)
      let (connection, _) = try daemon.accept(Control.Terminate.self)
      try connection.reply(Control.Terminate.Output(end: end))
      let outcome = try taskctl.outcome()
      #expect(outcome.code == 0)
      let words = end == nil ? "has never run" : "exited with code 3"
      #expect(outcome.output == "org.example.mail: \(words)\n")
    }
  }

  @Test(
    "The terminate command with --no-wait prints the refusal of an application that is not running"
  )
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

  @Test("A failure to write the output is an error")
  func fullDisk() throws {
    let daemon = try FakeDaemon()
    let path = try TaskctlProcess.path()
    let shell = try TestProcess.shell(
      "\(path) --socket \(daemon.socket) list >/dev/full 2>/dev/null; echo $?")
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(Control.ListApplications.Output(applications: [], sessionAgents: []))
    let line = try shell.readLine()
    #expect(line == "1")
  }

  @Test("The status command shows an application, or without one the daemon")
  func status() throws {
    let daemon = try FakeDaemon()
    let one = try TaskctlProcess(["status", "org.example.mail"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.GetApplication.self)
    try connection.reply(Control.GetApplication.Output(application: sample()))
    let output = try one.outcome().output
    #expect(output.hasPrefix("org.example.mail - Mail\n        State: background since "))
    let all = try TaskctlProcess(["status"], socket: daemon.socket)
    let (second, _) = try daemon.accept(Control.ListApplications.self)
    try second.reply(Control.ListApplications.Output(applications: [sample()], sessionAgents: []))
    try answerSessions(second)
    #expect(try all.outcome().output.hasPrefix("taskschedd - at \(daemon.socket)\n"))
  }

  @Test("The tasks command with --json prints each task with its application")
  func tasks() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["tasks", "--json"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(
      Control.ListApplications.Output(
        applications: [sample(), endedSample()], sessionAgents: []))
    let output = try taskctl.outcome().output
    #expect(output.hasPrefix(#"{"tasks":[{"application":"org.example.mail","instance":7,"owner":"#))
    #expect(output.contains(#""beganAtUSec":820000000,"expired":false,"id":3,"name":"sync"}}]}"#))
  }

  @Test("The config command with --changed omits defaults")
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

  @Test("The reload command prints each problem on a line of its own and exits with 1")
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

  @Test("The monitor command prints each change at once and exits with 0 on Ctrl-C")
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

  @Test("The monitor command with --until exits with 0 when the state is reached")
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

  @Test("The log command executes journalctl with matches for the daemon")
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

  @Test("The log command exits with 1 and a message if journalctl is missing")
  func notAnEventLog() throws {
    let taskctl = try TaskctlProcess(["log"], socket: nil, path: "/nowhere")
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: JournalUnavailable: journalctl is not in PATH"))
  }

  @Test("Completion offers the daemon's ids, except those that a shell would expand")
  func completion() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      ["---completion", "status", "--", "positional@0", "0", "0", "taskctl", "status", ""],
      socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.reply(
      Control.ListApplications.Output(
        applications: [sample(), sample("org.$(id)"), endedSample()], sessionAgents: []))
    #expect(try taskctl.outcome().output == "org.example.mail\norg.example.news\n")
  }

  @Test("Completion offers programs, their files, users, notifications and the commands of help")
  func moreCompletion() throws {
    let daemon = try FakeDaemon()
    func complete(_ words: [String], _ argument: String, _ command: [String]) throws
      -> TaskctlProcess
    {
      try TaskctlProcess(
        ["---completion"] + command
          + ["--", argument, "\(words.count - 1)", "\(words.last!.count)"] + words,
        socket: daemon.socket)
    }
    let folder = "\(daemon.socket.dropLast("socket".count))"
    for words in [["taskctl", "run", "--", "tru"], ["taskctl", "run", "--id", "a.b", "tru"]] {
      let output = try complete(words, "positional@0", ["run"]).outcome().output
      #expect(output.split(separator: "\n").contains("true"))
    }
    let files = try complete(
      ["taskctl", "task", "cat", "-n", "\(folder)so"], "positional@0", ["task"])
    #expect(try files.outcome().output == "\(daemon.socket)\n")
    let users = try complete(["taskctl", "status", "--owner", "roo"], "--owner", ["status"])
    #expect(try users.outcome().output.split(separator: "\n").contains("root"))
    let numbers = try complete(
      ["taskctl", "notifications", "show", ""], "positional@0", ["notifications", "show"])
    let (connection, _) = try daemon.accept(Control.ListNotifications.self)
    try connection.reply(
      Control.ListNotifications.Output(notifications: [notificationSample], next: 12))
    let second = try connection.receive().decode(Control.ListNotifications.Input.self)
    #expect(second.after == 12)
    var other = notificationSample
    other.notification.id = 300
    try connection.reply(Control.ListNotifications.Output(notifications: [other]))
    #expect(try numbers.outcome().output == "12\n300\n")
    for (shell, text) in [
      ("bash", "'list status"), ("zsh", "(list status"), ("fish", "-fa 'list status"),
    ] {
      let script = try TaskctlProcess(["--generate-completion-script", shell], socket: nil)
        .outcome().output
      #expect(script.split(separator: "\n").contains {
        ($0.contains("help") || $0.contains("*:command:") || $0.contains("COMPREPLY"))
          && $0.contains(text)
      })
    }
  }
}
