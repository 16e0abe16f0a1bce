import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("Failures, and their exit codes")
struct FailureTests {
  private typealias Control = ControlInterface

  @Test("A command without a daemon exits with 3 and prints the socket and how to start a daemon")
  func noDaemon() throws {
    let taskctl = try TaskctlProcess(["list"], socket: "/nowhere/socket")
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 3)
    #expect(outcome.errors.contains("no taskschedd listens on /nowhere/socket; start it with"))
  }

  @Test("The error without a daemon names the unit of the system's and of the user's daemon")
  func startCommands() {
    let commands = [
      (SocketPath.system, "systemctl enable --now"), (.user, "systemctl --user enable --now"),
    ]
    for (socket, command) in commands {
      let failure = CommandFailure(ConnectionError.noDaemon(path: socket.path))
      #expect(failure?.text.contains("start it with '\(command) taskschedd.service'") == true)
    }
  }

  @Test("A command exits with 3 if the daemon closes the connection during its reply")
  func cutAnswer() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["list"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.send(Array(#"{"parameters":{"applicat"#.utf8))
    try connection.close()
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 3)
    #expect(outcome.errors == "taskctl: taskschedd closed the connection\n")
  }

  @Test("The monitor command exits with 3 and a message if the daemon closes the connection")
  func monitorCut() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["monitor"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.Monitor.self)
    try connection.reply(Control.Monitor.Output(ready: true), continues: true)
    try connection.close()
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 3)
    #expect(outcome.errors.hasPrefix("taskctl: taskschedd at \(daemon.socket) closed the conn"))
  }

  @Test("A command exits with 3 if the peer does not speak Varlink")
  func garbage() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["list"], socket: daemon.socket)
    let connection = try daemon.accept()
    try connection.send(Array("HTTP/1.1 400\0".utf8))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 3)
    #expect(outcome.errors.hasPrefix("taskctl: taskschedd does not speak Varlink"))
  }

  @Test("An error that taskctl does not know is printed by name, and the exit code is 1")
  func unknownError() throws {
    struct Unknown: MethodFailure {
      let name = "org.taskschedd.Control.OfTomorrow"
      let parameters: JSONValue = [:]
    }
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["list"], socket: daemon.socket)
    let (connection, _) = try daemon.accept(Control.ListApplications.self)
    try connection.fail(Unknown())
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: OfTomorrow: "))
  }

  @Test(
    "An invalid command line exits with 2 and a message about what would be right",
    arguments: [
      (["lst"], "Did you mean 'taskctl list'?"),
      (["--json", "--socket", "/x", "foregruond", "x.y"], "Did you mean 'taskctl foreground'?"),
      (["list", "--jsn"], "Did you mean '--json'?"),
      (["foreground"], "Missing expected argument '<app>'"),
      (["run"], "no program given; use taskctl run [OPTIONS] PROGRAM"),
      (["task", "--"], "no program given; use taskctl task [OPTIONS] PROGRAM"),
      (["run", "--jsn", "ls"], "Unknown option '--jsn'"),
      (["list", "--state", "active,suspendet"], "did you mean 'suspended'?"),
      (["suspend", "x.y"], "'taskctl background APP'"),
      (["resume", "x.y"], "'taskctl foreground APP'"),
      (["restart", "x.y"], "'taskctl terminate APP', then 'taskctl launch APP'"),
      (["run", "--mode", "voipp", "--", "ls"], "did you mean 'voip'?"),
      (["monitor", "x.y", "--until", "suspendet"], "did you mean 'suspended'?"),
      (["monitor", "--until", "active"], "--until needs an application"),
      (["status", "--owner", "root"], "--owner needs an application"),
      (["warn-memory", "--owner", "root"], "--owner needs an application"),
      (["notifications", "--owner", "root"], "--owner needs an application"),
      (["list", "--user", "--system"], "at most one of --socket, --user and --system"),
      (["status", "x.y", "--owner", "no-such-user"], "there is no user 'no-such-user'"),
      (["log", "-n", "-3"], "--lines"),
    ])
  func usage(arguments: [String], sentence: String) throws {
    let outcome = try TaskctlProcess(arguments, socket: "/nowhere/socket").outcome()
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(sentence))
    #expect(outcome.errors.hasPrefix("taskctl: "))
    #expect(!outcome.errors.contains("Error: "))
    #expect(outcome.output == "")
  }

  @Test("The error for an unknown application names the daemon, and another that has it")
  func otherDaemon() {
    func sentence(_ asked: SocketPath, _ isKnown: Bool?, nearest: String? = nil) -> String {
      UnknownApplication.sentence("org.example.a", nearest: nearest, asked: asked) { other in
        #expect(other == (asked == .system ? .user : .system))
        return isKnown
      }
    }
    let system = "the system's daemon (/run/taskschedd/socket)"
    let own = "your own daemon (\(SocketPath.user.path))"
    let start = "there is no application 'org.example.a' in "
    #expect(sentence(.system, true) == "\(start)\(system); \(own) has it, use --user")
    #expect(sentence(.user, true) == "\(start)\(own); \(system) has it, use --system")
    #expect(
      sentence(.system, false).hasPrefix("\(start)\(system), nor in \(own); see 'taskctl list"))
    #expect(
      sentence(.user, nil, nearest: "org.example.b")
        == "\(start)\(own); did you mean 'org.example.b'?")
    // If the user names a socket, taskctl asks no other daemon.
    let named = UnknownApplication.sentence("x.y", nearest: "x.z", asked: SocketPath("/s")) { _ in
      Issue.record("taskctl asks no other daemon")
      return nil
    }
    #expect(named.hasPrefix("there is no application 'x.y' in the daemon at /s; did you mean"))
  }

  @Test("Help, version and completion scripts go to standard output, and the exit code is 0")
  func help() throws {
    for arguments in [
      ["help", "run"], ["run", "--help"], ["--version"], ["--generate-completion-script", "bash"],
    ] {
      let outcome = try TaskctlProcess(arguments, socket: nil).outcome()
      #expect(outcome.code == 0)
      #expect(outcome.output.count > 10)
      #expect(outcome.errors == "")
    }
  }

  @Test("The help of each subcommand has a discussion with an example")
  func helpTexts() {
    for command in Taskctl.configuration.subcommands {
      #expect(command.configuration.discussion.contains("Example"))
      #expect(!command.configuration.abstract.isEmpty)
    }
  }

  @Test("Every error of the interface has a sentence that escapes the daemon's text")
  func sentences() {
    let bad = "\u{1b}c"
    let failures: [Control.Failure] = [
      .unknownApplication(application: bad, nearest: bad),
      .ambiguousApplication(application: bad, owners: [-1, 0]),
      .invalidApplicationID(application: bad),
      .invalidTransition(application: bad, state: .active, cause: bad),
      .alreadyRunning(application: bad, pid: 1, state: .active), .terminating(application: bad),
      .notLaunchable(application: bad), .launchFailed(application: bad, reason: bad),
      .invalidProcess(pid: 1, reason: bad), .quotaExceeded(quota: bad, limit: 1),
      .invalidNotification(parameter: bad, reason: bad),
      .unknownNotification(application: bad, notification: 1), .notStored(reason: bad),
      .invalidSystemChange(parameter: bad, reason: bad), .terminatedByOperator(application: bad),
      .stateNotSaved, .nothingPlayed,
      .multitaskingNotSupported(application: bad), .notPermitted(application: bad),
      .cannotBeTold(application: bad, state: .active),
      .invalidConfiguration(problems: [bad]),
    ]
    #expect(failures.count == Control.Failure.Name.allCases.count)
    for failure in failures {
      let text = CommandFailure(failure)?.text ?? ""
      #expect(text.hasPrefix("taskctl: \(failure.name.split(separator: ".").last!): "))
      #expect(
        text.contains("\\x1bc") || failure == .stateNotSaved || failure == .nothingPlayed)
      #expect(!text.unicodeScalars.contains { !PrintableText.isPrintable($0) && $0 != "\n" })
    }
  }

  @Test("The nearest name is found within a third of its letters")
  func nearest() {
    let names = ["list", "status", "terminate"]
    #expect(nearestName(to: "lits", among: names) == "list")
    #expect(nearestName(to: "stat", among: names) == "status")
    #expect(nearestName(to: "termiante", among: names) == "terminate")
    #expect(nearestName(to: "xyz", among: names) == nil)
    #expect(nearestName(to: "", among: names) == nil)
  }
}
