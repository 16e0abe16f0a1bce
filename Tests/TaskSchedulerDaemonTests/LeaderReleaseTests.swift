import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite(
  "§15: Programs of leaders that no event log names do not stay suspended",
  .enabled(
    if: TestControlGroup.isPossible, Comment(rawValue: TestControlGroup.missing ?? "possible")))
struct LeaderReleaseTests {
  private let scene: Scene
  private let proc: ProcFS

  /// A scope like those that desktops create. It contains a program, its child and another process.
  private final class Scene {
    let scope: ControlGroup
    let program: TestProcess
    let child: Int32
    let sibling: TestProcess
    private let parent: TestControlGroup

    init() throws {
      let parent = try TestControlGroup()
      let scope = parent.group.child("app-test-1.scope")
      try scope.create()
      let program = try TestProcess.shell("sh -c 'echo $$; read line'; true")
      let child = try #require(try program.readLine().flatMap { Int32($0) })
      let sibling = try TestProcess.shell("read line")
      for pid in [program.pid, child, sibling.pid] { try scope.add(pid) }
      (self.parent, self.scope) = (parent, scope)
      (self.program, self.child, self.sibling) = (program, child, sibling)
    }
  }

  init() throws {
    scene = try Scene()
    proc = try ProcFS()
  }

  private func stop(_ process: TestProcess) throws {
    try process.pidfd.send(signal: SIGSTOP)
    #expect(try process.pidfd.wait([.stopped]) == .stopped(signal: SIGSTOP))
  }

  private func isStopped(_ process: TestProcess) throws -> Bool {
    try proc.stat(process.pid)?.state == .stopped
  }

  /// Releases a leader whose pidfd systemd has kept for the daemon.
  private func release(
    _ leader: borrowing PIDFD, except held: Set<ProcessIdentity> = [],
    heldGroups: Set<String> = []
  ) throws {
    let number = try leader.duplicate().take().take()
    let outcome = DescriptorStore().release(
      leaders: [InstanceID(1): number], except: held, heldGroups: heldGroups, in: proc)
    #expect(outcome.failures == [])
  }

  @Test("The scope of an adopted program is thawed")
  func frozen() throws {
    try scene.scope.freeze()
    try release(scene.program.pidfd)
    #expect(try scene.scope.isToBeFrozen() == false)
  }

  @Test("The stopped processes in the scope of an adopted program are resumed")
  func stopped() throws {
    try stop(scene.program)
    try stop(scene.sibling)
    try release(scene.program.pidfd)
    #expect(try !isStopped(scene.program))
    #expect(try !isStopped(scene.sibling))
  }

  @Test("A scope stays frozen if the leader is not its first process")
  func otherProgram() throws {
    try scene.scope.freeze()
    guard let child = try PIDFD.open(scene.child) else {
      throw SystemError(call: "pidfd_open", errno: ESRCH)
    }
    try release(child)
    #expect(try scene.scope.isToBeFrozen() == true)
    try scene.scope.thaw()
  }

  @Test("Processes and scopes that the daemon manages stay suspended")
  func managed() throws {
    let sibling = try #require(try proc.identity(scene.sibling.pid))
    try stop(scene.program)
    try stop(scene.sibling)
    try release(scene.program.pidfd, except: [sibling])
    #expect(try !isStopped(scene.program))
    #expect(try isStopped(scene.sibling))
    try scene.scope.freeze()
    try release(scene.program.pidfd, heldGroups: [scene.scope.path])
    #expect(try scene.scope.isToBeFrozen() == true)
    try scene.scope.thaw()
  }
}
