import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

/// A process `taskctl run` or `taskctl task`, whose program the daemon has adopted.
struct ManagedRun: ~Copyable {
  let daemon: FakeDaemon
  let taskctl: TaskctlProcess
  let input: ControlInterface.Adopt.Input
  /// The program's pidfd, which arrived with taskctl's call of Adopt. It identifies the program
  /// even after its end.
  let program: PIDFD
  /// The connection on which taskctl has called Adopt. On this connection, taskctl also monitors
  /// the application.
  let stream: FakeConnection

  init(_ arguments: [String], withoutTerminal: Bool = false) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(
      arguments, socket: daemon.socket, withoutTerminal: withoutTerminal)
    let (connection, input) = try daemon.accept(ControlInterface.Adopt.self)
    let program = try connection.takeProcess(input.processFileDescriptor)
    try connection.reply(ControlInterface.Adopt.Output(instance: 7))
    let call = try connection.receive()
    #expect(call.method == ControlInterface.Monitor.name)
    let watched = try call.decode(ControlInterface.Monitor.Input.self)
    #expect(watched == .init(application: input.application, owner: Int(Users.effectiveUID)))
    try connection.reply(ControlInterface.Monitor.Output(ready: true), continues: true)
    self.daemon = daemon
    self.taskctl = taskctl
    self.input = input
    self.program = program
    stream = connection
  }

  /// Sends taskctl a transition of the application.
  borrowing func report(_ state: ControlInterface.State, cause: String? = nil) throws {
    try stream.reply(
      ControlInterface.Monitor.Output(
        change: .init(
          kind: .transition, atUSec: 5, application: input.application,
          owner: Int(Users.effectiveUID), to: state, cause: cause, message: "")),
      continues: true)
  }

  /// Suspends the program, and sends taskctl the transition.
  borrowing func suspend() throws {
    try program.send(signal: SIGSTOP)
    // The kernel delivers the pending signal with the lowest number first. A signal that the test
    // sends next must not overtake SIGSTOP.
    try waitUntilStopped(program.pid)
    try report(.background, cause: "sendAway")
    try report(.suspended, cause: "noEntitlement")
  }

  /// Waits for the end of the program. Then reports the end to taskctl, and answers its request for
  /// the details.
  borrowing func answer(_ end: ControlInterface.End) throws {
    try waitFor(POLLIN, on: program.rawValue)
    try stream.reply(
      ControlInterface.Monitor.Output(
        change: .init(
          kind: .ended, atUSec: 5, application: input.application,
          owner: Int(Users.effectiveUID), pid: Int(program.pid), reason: end.reason.rawValue,
          message: "")),
      continues: true)
    let (connection, _) = try daemon.accept(ControlInterface.GetApplication.self)
    // taskctl must not have reaped the program yet, because the daemon reads the exit status of the
    // zombie.
    let state = try ProcFS().stat(program.pid)?.state
    #expect(state == .zombie)
    var application = endedSample(input.application, owner: Int(Users.effectiveUID))
    application.lastEnd = end
    try connection.reply(ControlInterface.GetApplication.Output(application: application))
  }
}

/// Waits until a process is stopped. No descriptor reports a stop, so this polls the state.
func waitUntilStopped(_ pid: Int32) throws {
  let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
  while try ProcFS().stat(pid)?.state != .stopped {
    if BootClock.now() > end { throw SystemError(call: "waiting for a stop", errno: ETIMEDOUT) }
    sched_yield()
  }
}
