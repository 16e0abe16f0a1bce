import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

/// A `taskctl run` or `task` whose program has been taken over.
struct ManagedRun: ~Copyable {
  let daemon: FakeDaemon
  let taskctl: TaskctlProcess
  let input: ControlInterface.Adopt.Input
  /// What came with the call: names the program for good.
  let program: PIDFD

  init(_ arguments: [String]) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(arguments, socket: daemon.socket)
    let (connection, input) = try daemon.accept(ControlInterface.Adopt.self)
    let program = try connection.takeProcess(input.processFileDescriptor)
    try connection.reply(ControlInterface.Adopt.Output(instance: 7))
    try connection.waitForClose()
    self.daemon = daemon
    self.taskctl = taskctl
    self.input = input
    self.program = program
  }

  /// Plays the daemon that has seen the end, when taskctl asks for it.
  borrowing func answer(_ end: ControlInterface.End) throws {
    let (connection, _) = try daemon.accept(ControlInterface.Monitor.self)
    // The daemon can read the status only as long as taskctl has not reaped the program.
    let state = try ProcFS().stat(program.pid)?.state
    #expect(state == .zombie)
    var application = endedSample(input.application, owner: Int(Users.effectiveUID))
    application.lastEnd = end
    try connection.reply(
      ControlInterface.Monitor.Output(application: application), continues: true)
  }
}
