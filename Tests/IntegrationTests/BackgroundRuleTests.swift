import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §12, except the rule about the GPU, because test machines have no GPU.
/// `ResourceMeterTests` and the tests of the core test the GPU rule with simulated counters.
@Suite("§12: Resource rules in the background")
struct BackgroundRuleTests {
  private let id = "org.test.uses"
  private let shared = TemporaryDirectory(mode: 0o755)

  private func daemon(
    options: [(String, String)] = [], _ policy: (String, String)...
  ) throws -> DaemonFixture {
    shared.write("contacts.db", "")
    shared.write("other.db", "")
    let path = shared.file("contacts.db")
    return try DaemonFixture(
      .init(options: options, policy: policy, resources: [path, "/nowhere/at-all"]))
  }

  @Test(
    "A lock on shared data at suspension kills the application, reason sharedResourceHeld",
    arguments: ["flock", "fcntl", "ofd", "lease", "passed"])
  func held(kind: String) throws {
    let daemon = try daemon()
    let monitor = try Monitor(daemon)
    let program = try ResourceUsingProgram(daemon)
    #expect(try program.ask("lock \(kind) \(shared.file("contacts.db"))") == "done")
    try daemon.adopt(id, program.process)
    try daemon.sendToBackground(id)
    let found = try monitor.next("the lock") { $0.kind == .ruleBroken }
    #expect(found.message.contains(shared.file("contacts.db")))
    #expect(try monitor.end(id) == "sharedResourceHeld")
    #expect(!monitor.seen.contains { $0.to == .suspended })
    #expect(try program.process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try daemon.application(id).lastEnd?.reason == .sharedResourceHeld)
  }

  @Test("A lock on an unshared file and a released lock do not kill the application")
  func free() throws {
    let daemon = try daemon()
    let monitor = try Monitor(daemon)
    let program = try ResourceUsingProgram(daemon)
    for kind in ["flock", "fcntl", "ofd"] {
      _ = try program.ask("lock \(kind) \(shared.file("contacts.db"))")
      _ = try program.ask("unlock")
    }
    _ = try program.ask("lock flock \(shared.file("other.db"))")
    try daemon.adopt(id, program.process)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    try daemon.activate(id)
    // In the foreground, the application may hold a lock on the shared file.
    _ = try program.ask("lock flock \(shared.file("contacts.db"))")
    #expect(try daemon.application(id).state == .active)
  }

  @Test("A lock that is released in didEnterBackground does not kill; a lock that is kept does")
  func lets() throws {
    let daemon = try daemon()
    for letsGo in [true, false] {
      let monitor = try Monitor(daemon)
      let application = try TestApplication(daemon, id, "manual")
      try application.registered()
      try acknowledge(application, ["didFinishLaunching", "didBecomeActive"])
      _ = try application.lock(shared.file("contacts.db"))
      try daemon.sendToBackground(id)
      try acknowledge(application, ["willResignActive"])
      let callback = try application.nextCallback()
      #expect(callback.kind == "didEnterBackground")
      if letsGo { _ = try application.unlock() }
      try application.send("Acknowledge", ["callback": .integer(Int64(callback.id))])
      if letsGo {
        try monitor.transition(id, to: .suspended)
        try daemon.terminate(id)
      } else {
        #expect(try monitor.end(id) == "sharedResourceHeld")
      }
    }
  }

  private func acknowledge(_ application: TestApplication, _ kinds: [String]) throws {
    for kind in kinds {
      let callback = try application.nextCallback()
      #expect(callback.kind == kind)
      _ = try application.acknowledge(callback.id)
    }
  }

  @Test(
    "The daemon throttles, and then kills, an application above its CPU share: excessiveUse",
    arguments: ["auto", "signal"])
  func excessive(mechanism: String) throws {
    let daemon = try DaemonFixture(
      .init(
        // At low priority, the program would get too little CPU time on a busy machine.
        options: [
          ("suspend-mechanism", "\"\(mechanism)\""), ("background-priority", "false"),
        ],
        policy: [
          ("BackgroundUseWindow", "400ms"), ("BackgroundProcessorShare", "10"),
          ("ThrottledProcessorShare", "9"),
        ]))
    let monitor = try Monitor(daemon)
    // Short-lived children use the CPU time. The daemon must count the time of a child that has
    // ended.
    let program = try daemon.shell(
      "while :; do sh -c 'i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done'; done")
    try daemon.adopt(id, program, background: true, task: "work")
    let throttled = try monitor.next("the throttle") {
      $0.kind == .throttled && $0.message.contains("is throttled to 9 %")
    }
    #expect(throttled.application == id)
    #expect(try monitor.end(id) == "excessiveUse")
    #expect(try program.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try daemon.application(id).lastEnd?.reason == .excessiveUse)
  }

  /// Starts a daemon that throttles for 4 s, so that taskctl can observe the throttle even on a
  /// busy machine. The daemon lowers no priorities, because a program at low priority would get too
  /// little CPU time.
  private func throttlingDaemon(options: [(String, String)] = []) throws -> DaemonFixture {
    try daemon(
      options: options + [("background-priority", "false")], ("BackgroundUseWindow", "4s"),
      ("BackgroundProcessorShare", "10"), ("ThrottledProcessorShare", "9"))
  }

  /// Returns a program that has used CPU time in bursts until the daemon throttled it. The bursts
  /// are short: a long one could continue under the throttle, and exceed the limit.
  private func throttled(_ daemon: DaemonFixture) throws -> ResourceUsingProgram {
    let program = try ResourceUsingProgram(daemon)
    try daemon.adopt(id, program.process, background: true, task: "work")
    while try daemon.application(id).instance?.resources?.throttledPercent == nil {
      try program.ask("burn 0.005")
    }
    return program
  }

  @Test(
    "The throttle of an application ends when it uses little CPU time or is in the foreground")
  func calms() throws {
    let daemon = try throttlingDaemon()
    let monitor = try Monitor(daemon)
    let program = try throttled(daemon)
    #expect(try daemon.application(id).instance?.resources?.throttledPercent == 9)
    #expect(try daemon.taskctl("status", id).text.contains("Throttled: to 9 % of one CPU"))
    try monitor.next("the end of the throttle") { $0.message.contains("is no longer throttled") }
    try daemon.activate(id)
    #expect(try program.ask("score 1") == "done")
    #expect(try daemon.state(of: program.process.pid) != .stopped)
  }

  @Test("After kill -9 of the daemon, a throttled application does not stay stopped")
  func throttledOn() throws {
    var daemon = try throttlingDaemon(options: [("suspend-mechanism", "\"signal\"")])
    let program = try throttled(daemon)
    // A throttled application is stopped for nine tenths of the time.
    try waitUntil("the program is stopped") {
      try daemon.state(of: program.process.pid) == .stopped
    }
    daemon = try daemon.killed()
    #expect(try program.ask("score 1") == "done")
    try daemon.activate(id)
    #expect(try daemon.application(id).instance?.resources?.throttledPercent == nil)
    try waitUntil("the program runs") { try daemon.state(of: program.process.pid) != .stopped }
    #expect(try program.ask("score 1") == "done")
  }

  @Test("In the foreground, an application may use any CPU time")
  func foreground() throws {
    let daemon = try daemon(
      ("BackgroundUseWindow", "100ms"), ("BackgroundProcessorShare", "2"),
      ("ThrottledProcessorShare", "1"))
    let program = try ResourceUsingProgram(daemon)
    try daemon.adopt(id, program.process)
    try program.ask("burn 0.6")
    // The program answers this request only after it has used the CPU time.
    #expect(try program.ask("score 1") == "done")
    #expect(try daemon.application(id).state == .active)
  }

  @Test(
    "The daemon reports a socket that listens at suspension to the operator and in the log")
  func listening() throws {
    let daemon = try daemon()
    let monitor = try Monitor(daemon)
    let program = try ResourceUsingProgram(daemon)
    let path = shared.file("socket")
    let address = try program.ask("listen \(path)")
    try daemon.adopt(id, program.process)
    try daemon.sendToBackground(id)
    let report = try monitor.next("the sockets") { $0.kind == .listening }
    #expect(report.message == "\(id) listens on \(path), \(address) while it is suspended")
    try monitor.transition(id, to: .suspended)
    #expect(daemon.logged.contains(report.message))
    #expect(try daemon.application(id).instance?.resources?.listening == [path, address])
    let status = try daemon.taskctl("status", id).text
    #expect(
      status.contains("Listened on: \(path), \(address) (at its last suspension)"), "\(status)")
    #expect(status.contains("Priorities: "), "\(status)")
    // The daemon reports the socket only once, although it suspends the application twice.
    try daemon.activate(id)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    #expect(monitor.seen.count { $0.kind == .listening } == 1)
  }
}
