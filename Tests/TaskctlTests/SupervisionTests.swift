import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("Signals, stops and job control of run")
struct SupervisionTests {
  /// Starts `taskctl run` with a shell script, and waits until the script has printed "ready".
  private func start(_ script: String, withoutTerminal: Bool = false) throws -> ManagedRun {
    let managed = try ManagedRun(
      ["run", "--", "sh", "-c", script], withoutTerminal: withoutTerminal)
    let line = try managed.taskctl.process.readLine()
    #expect(line == "ready")
    return managed
  }

  /// A script that prints "ready" and waits for a signal. The output of its `sleep` is redirected,
  /// so that `sleep` does not keep the test's pipes open.
  private static let waiting = "echo ready; sleep 1000 >/dev/null 2>&1 & wait"

  @Test("SIGTERM and SIGHUP are forwarded to the program", arguments: [SIGTERM, SIGHUP])
  func passedOn(number: Int32) throws {
    let managed = try start("trap 'exit 3' TERM HUP; \(Self.waiting)")
    try managed.taskctl.process.pidfd.send(signal: number)
    try managed.answer(.init(reason: .exited, code: 3, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 3)
  }

  @Test("Ctrl-C is left to the program, whose exit code taskctl returns")
  func interrupted() throws {
    let managed = try start("trap 'exit 6' INT; \(Self.waiting)")
    // Sends SIGINT to the whole process group, as the terminal does for Ctrl-C.
    #expect(kill(-managed.taskctl.process.pid, SIGINT) == 0)
    try managed.answer(.init(reason: .exited, code: 6, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 6)
  }

  @Test("Ctrl-Z stops taskctl with the program, and fg resumes both")
  func stopped() throws {
    let managed = try start("echo ready; kill -TSTP $$; exit 7")
    try waitUntilStopped(managed.taskctl.process.pid)
    #expect(try ProcFS().stat(managed.program.pid)?.state == .stopped)
    #expect(kill(-managed.taskctl.process.pid, SIGCONT) == 0)
    try managed.answer(.init(reason: .exited, code: 7, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 7)
  }

  @Test("A program that the daemon suspends neither stops taskctl nor ends its wait")
  func suspended() throws {
    let managed = try start("echo ready; kill -STOP $$; exit 7")
    try waitUntilStopped(managed.program.pid)
    try managed.program.send(signal: SIGCONT)
    // If taskctl is stopped, it does not request the details of the end. `answer` then fails.
    try managed.answer(.init(reason: .exited, code: 7, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 7)
  }

  @Test(
    "Ctrl-C, Ctrl-\\ and SIGTERM terminate a suspended program through the daemon, by the user",
    arguments: [SIGINT, SIGQUIT, SIGTERM])
  func endedWhileSuspended(number: Int32) throws {
    let managed = try start(Self.waiting)
    try managed.suspend()
    #expect(kill(-managed.taskctl.process.pid, number) == 0)
    let (connection, input) = try managed.daemon.accept(ControlInterface.Terminate.self)
    #expect(input.application == managed.input.application)
    #expect(input.owner == Int(Users.effectiveUID) && input.byUser == true)
    try managed.program.send(signal: SIGKILL)
    let end = ControlInterface.End(reason: .terminatedByUser, atUSec: 1)
    try connection.reply(ControlInterface.Terminate.Output(end: end))
    try managed.answer(end)
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 128 + number)
    #expect(outcome.errors == "")
  }

  @Test("Ctrl-C terminates a suspended program even if its daemon has gone")
  func endedWithoutDaemon() throws {
    let managed = try start(Self.waiting)
    try managed.suspend()
    #expect(unlink(managed.daemon.socket) == 0)
    #expect(kill(-managed.taskctl.process.pid, SIGINT) == 0)
    try waitFor(POLLIN, on: managed.program.rawValue)
    try managed.stream.close()
    #expect(try managed.taskctl.outcome().code == 128 + SIGINT)
  }

  @Test("Ctrl-Z typed during a suspension takes effect, and fg activates the application")
  func stoppedWhileSuspended() throws {
    let managed = try start(Self.waiting, withoutTerminal: true)
    try managed.suspend()
    #expect(kill(-managed.taskctl.process.pid, SIGTSTP) == 0)
    try waitUntilStopped(managed.taskctl.process.pid)
    #expect(kill(-managed.taskctl.process.pid, SIGCONT) == 0)
    let (connection, input) = try managed.daemon.accept(ControlInterface.Activate.self)
    #expect(input.application == managed.input.application)
    try managed.report(.active, cause: "activate")
    try connection.reply(ControlInterface.Activate.Output())
    try managed.program.send(signal: SIGKILL)
    try managed.answer(.init(reason: .crashed, signal: Int(SIGKILL), atUSec: 1))
    #expect(try managed.taskctl.outcome().code == 128 + SIGKILL)
  }

  @Test("taskctl asks the daemon for the state again if the stream was closed")
  func streamClosed() throws {
    let managed = try start(Self.waiting)
    try managed.program.send(signal: SIGSTOP)
    try managed.stream.close()
    #expect(kill(-managed.taskctl.process.pid, SIGINT) == 0)
    let (stream, _) = try managed.daemon.accept(ControlInterface.Monitor.self)
    var application = sample(managed.input.application, owner: Int(Users.effectiveUID))
    application.state = .suspended
    try stream.reply(ControlInterface.Monitor.Output(application: application), continues: true)
    try stream.reply(ControlInterface.Monitor.Output(ready: true), continues: true)
    _ = try managed.daemon.accept(ControlInterface.Terminate.self)
    try managed.program.send(signal: SIGKILL)
    #expect(unlink(managed.daemon.socket) == 0)
    try stream.close()
    _ = try managed.taskctl.outcome()
  }

  @Test("The notice of a suspension says why, and what each key and command does")
  func notices() {
    let notices = SuspensionNotices(application: "org.example.a", command: "taskctl --user")
    #expect(
      notices.suspendedLine(because: "otherActivated")
        == "taskctl: org.example.a is suspended: another application was activated at its seat."
        + " Ctrl-C terminates it, Ctrl-Z returns to the shell;"
        + " 'taskctl --user foreground org.example.a' or fg resumes it")
    #expect(notices.suspendedLine(because: "sendAway").contains("it was sent to the background"))
    #expect(notices.suspendedLine(because: nil).contains("nothing entitles it to run"))
  }

  @Test("The program keeps running when taskctl is killed")
  func killed() throws {
    let managed = try start("trap 'echo alive; exit' USR1; \(Self.waiting)")
    try managed.taskctl.process.pidfd.send(signal: SIGKILL)
    try waitFor(POLLIN, on: managed.taskctl.process.pidfd.rawValue)
    try managed.program.send(signal: SIGUSR1)
    let line = try managed.taskctl.process.readLine()
    #expect(line == "alive")
  }

  @Test("The program is in taskctl's process group, which the terminal's signals reach")
  func processGroup() throws {
    let managed = try start("trap 'exit 0' TERM; \(Self.waiting)")
    #expect(getpgid(managed.program.pid) == managed.taskctl.process.pid)
    try managed.program.send(signal: SIGTERM)
    try managed.answer(.init(reason: .exited, code: 0, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 0)
  }
}
