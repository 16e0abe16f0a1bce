import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15, when the daemon has no free file descriptors. The daemon then refuses a request
/// and states the reason, or carries the request out later. It leaves no process and no descriptor
/// of a refused request behind.
@Suite("§15: Without free descriptors, the daemon still serves, and keeps its promises later")
struct ShortageTests {
  private let id = "org.test.program"

  /// Runs the body while the daemon can open only the given number of additional descriptors.
  private func allowing(
    _ more: Int, _ daemon: DaemonFixture, _ body: () throws -> Void
  ) throws {
    func limit(_ soft: String) throws {
      let program = try TestProcess(
        "/usr/bin/prlimit", ["prlimit", "--pid=\(daemon.process.pid)", "--nofile=\(soft):"])
      #expect(try program.waitForExit() == .exited(code: 0))
    }
    try limit("\(try daemon.descriptorCount() + more)")
    let result = Result { try body() }
    try limit("4096")
    try result.get()
  }

  @Test("A launch without descriptors is refused with the reason, and can be requested again")
  func launch() throws {
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    let daemon = try DaemonFixture(.init(manifests: [(id, manifest)]))
    let connection = try daemon.connect()
    let launch = ControlInterface.Launch.Input(application: id)
    _ = try connection.call(ControlInterface.ListApplications.self, .init(), timeout: deadline)
    let before = try daemon.descriptorCount()
    var refusals: Set<String> = []
    for more in 0..<10 {
      try allowing(more, daemon) {
        do {
          _ = try connection.call(ControlInterface.Launch.self, launch, timeout: deadline)
          _ = try connection.call(
            ControlInterface.Terminate.self, .init(application: id), timeout: deadline)
        } catch {
          refusals.insert("\(error)")
        }
      }
      #expect(try daemon.programs() == [])
    }
    #expect(refusals.count > 1, "the launch failed at only one step: \(refusals)")
    for refusal in refusals {
      #expect(refusal.contains("LaunchFailed") && refusal.contains("EMFILE"))
    }
    try waitUntil("the failed launches leave no descriptor") {
      try daemon.descriptorCount() <= before
    }
    let pid = try daemon.launch(id)
    #expect(try daemon.programs() == [pid])
  }

  @Test("A client that connects without free descriptors is served as soon as descriptors are free")
  func connection() throws {
    let daemon = try DaemonFixture()
    let list = #"{"method":"org.taskschedd.Control.ListApplications"}"#
    let early = try RawClient(daemon)
    #expect(try early.call(list)?.errorName == nil)
    var late: RawClient?
    try allowing(0, daemon) {
      // The kernel completes the connection even if the daemon cannot accept it.
      late = try RawClient(daemon)
      #expect(try late?.send(list) == true)
      #expect(try early.call(list)?.errorName == nil, "an earlier connection is served")
    }
    let answer = try #require(try late?.receive())
    #expect(answer.errorName == nil)
  }

  @Test(
    """
    Without free descriptors, a oneway call of a client that has closed its connection is carried \
    out or reported, and not dropped
    """)
  func onewayCall() throws {
    let daemon = try DaemonFixture()
    // The daemon looks for the instance of a client only if there are instances.
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    var client: RawClient? = try RawClient(daemon)
    // Once the daemon answers on this later connection, it has also accepted the connection of the
    // client.
    _ = try daemon.applications()
    // With a limit of 3, the daemon can open no descriptor, because 0, 1 and 2 are in use.
    try allowing(3 - daemon.descriptorCount(), daemon) {
      // The daemon must find the call and the end of the connection at the same time.
      _ = try daemon.process.send(signal: SIGSTOP)
      try client?.send(
        #"{"method":"org.taskschedd.Application.EndBackgroundTask","oneway":true,"parameters":{"task":1}}"#
      )
      client = nil
      _ = try daemon.process.send(signal: SIGCONT)
      try waitUntil("the daemon reports the call") {
        daemon.logged.contains("org.taskschedd.Application.EndBackgroundTask failed: ")
      }
    }
    withExtendedLifetime(program) {}
  }

  @Test("The daemon completes a suspension as soon as descriptors are free")
  func suspension() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("sleep 1000 & sleep 1000 & echo $!; wait")
    let child = try program.nextPID()
    try daemon.adopt(id, program)
    let monitor = try Monitor(daemon)
    let connection = try daemon.connect()
    _ = try connection.call(ControlInterface.ListApplications.self, .init(), timeout: deadline)
    try allowing(0, daemon) {
      _ = try connection.call(
        ControlInterface.SendToBackground.self, .init(application: id), timeout: deadline)
    }
    try monitor.transition(id, to: .suspended)
    for pid in [program.pid, child] { #expect(try daemon.state(of: pid) == .stopped) }
  }
}
