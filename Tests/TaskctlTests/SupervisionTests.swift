import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("Signals, stops and job control of run")
struct SupervisionTests {
  /// A `taskctl run` of a shell script that has printed "ready".
  private func start(_ script: String) throws -> ManagedRun {
    let managed = try ManagedRun(["run", "--", "sh", "-c", script])
    let line = try managed.taskctl.process.readLine()
    #expect(line == "ready")
    return managed
  }

  /// Waits until a process is stopped. No file descriptor tells that, so it is looked for.
  private func waitUntilStopped(_ pid: Int32) throws {
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while try ProcFS().stat(pid)?.state != .stopped {
      if BootClock.now() > end { throw SystemError(call: "waiting for a stop", errno: ETIMEDOUT) }
      sched_yield()
    }
  }

  /// Waits for a signal for ever. Its helper holds none of the test's pipes.
  private static let waiting = "echo ready; sleep 1000 >/dev/null 2>&1 & wait"

  @Test("SIGTERM and SIGHUP are passed on to the program", arguments: [SIGTERM, SIGHUP])
  func passedOn(number: Int32) throws {
    let managed = try start("trap 'exit 3' TERM HUP; \(Self.waiting)")
    try managed.taskctl.process.pidfd.send(signal: number)
    try managed.answer(.init(reason: .exited, code: 3, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 3)
  }

  @Test("Ctrl-C is the program's business: taskctl waits for it and returns its code")
  func interrupted() throws {
    let managed = try start("trap 'exit 6' INT; \(Self.waiting)")
    // As the terminal does: to the whole group.
    #expect(kill(-managed.taskctl.process.pid, SIGINT) == 0)
    try managed.answer(.init(reason: .exited, code: 6, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 6)
  }

  @Test("Ctrl-Z stops taskctl with the program, and fg lets both go on")
  func stopped() throws {
    let managed = try start("echo ready; kill -TSTP $$; exit 7")
    try waitUntilStopped(managed.taskctl.process.pid)
    #expect(try ProcFS().stat(managed.program.pid)?.state == .stopped)
    #expect(kill(-managed.taskctl.process.pid, SIGCONT) == 0)
    try managed.answer(.init(reason: .exited, code: 7, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 7)
  }

  @Test("a program that the daemon suspends does not stop taskctl, nor end its wait")
  func suspended() throws {
    let managed = try start("echo ready; kill -STOP $$; exit 7")
    try waitUntilStopped(managed.program.pid)
    try managed.program.send(signal: SIGCONT)
    // Had taskctl stopped, it would not ask for the end.
    try managed.answer(.init(reason: .exited, code: 7, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 7)
  }

  @Test("the program lives on when taskctl is killed")
  func killed() throws {
    let managed = try start("trap 'echo alive; exit' USR1; \(Self.waiting)")
    try managed.taskctl.process.pidfd.send(signal: SIGKILL)
    try waitFor(POLLIN, on: managed.taskctl.process.pidfd.rawValue)
    try managed.program.send(signal: SIGUSR1)
    let line = try managed.taskctl.process.readLine()
    #expect(line == "alive")
  }

  @Test("the program is in taskctl's process group, where the terminal's signals reach it")
  func processGroup() throws {
    let managed = try start("trap 'exit 0' TERM; \(Self.waiting)")
    #expect(getpgid(managed.program.pid) == managed.taskctl.process.pid)
    try managed.program.send(signal: SIGTERM)
    try managed.answer(.init(reason: .exited, code: 0, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 0)
  }
}
